// Holds objects of custom kinds against the schemas that their own projects publish: node custom.mjs FILE, a JSON list.
// Says what does not fit, and then ends with 1.
import { readFileSync } from "node:fs";
import { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute";
import { PrometheusRule } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";

const kinds = { HTTPRoute, PrometheusRule, ServiceMonitor };
for (const object of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  try {
    new kinds[object.kind](object).validate();
  } catch (error) {
    console.log(`${object.kind} ${object.metadata?.name}: ${error.message}`);
    process.exitCode = 1;
  }
}
