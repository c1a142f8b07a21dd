{{- define "knowhow.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "knowhow.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "knowhow.labels" -}}
{{ include "knowhow.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "knowhow.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "knowhow.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "knowhow.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The name of a secret setting's file: KNOWHOW_CHAT_KEY is in chat-key. */}}
{{- define "knowhow.file" -}}
{{- . | trimPrefix "KNOWHOW_" | lower | replace "_" "-" -}}
{{- end -}}

{{- define "knowhow.metricsBind" -}}
{{- $format := ternary "[%s]:%v" "%s:%v" (contains ":" .Values.listen.address) -}}
{{- printf $format .Values.listen.address .Values.listen.metricsPort -}}
{{- end -}}

{{/* What every pod has: who it runs as, and that it holds nothing of the cluster. */}}
{{- define "knowhow.pod" -}}
automountServiceAccountToken: false
# A Service named knowhow would put KNOWHOW_PORT=tcp://... into the environment, which is a setting's name.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.pod.user }}
  runAsGroup: {{ .Values.pod.user }}
  fsGroup: {{ .Values.pod.user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "knowhow.container" -}}
image: {{ include "knowhow.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* The authority of the databases' certificates, as variables of libpq: they hold for each URL that says nothing else. */}}
{{- define "knowhow.databaseAuthority" -}}
{{- if .Values.secrets.databaseAuthority }}
- name: PGSSLROOTCERT
  value: /run/secrets/knowhow/database-authority.crt
- name: PGSSLMODE
  value: verify-ca
{{- end }}
{{- end -}}

{{- define "knowhow.databaseAuthorityFile" -}}
{{- with .Values.secrets.databaseAuthority }}
- secret:
    name: {{ .name }}
    items:
      - key: {{ .key }}
        path: database-authority.crt
{{- end }}
{{- end -}}

{{/* Settings that the API and the workers share. */}}
{{- define "knowhow.environment" -}}
- name: KNOWHOW_DATABASE_URL_FILE
  value: /run/secrets/knowhow/database-url
- name: KNOWHOW_SECRET_KEY_FILE
  value: /run/secrets/knowhow/secret-key
{{- include "knowhow.databaseAuthority" . }}
- name: KNOWHOW_METRICS_BIND
  value: {{ include "knowhow.metricsBind" . | quote }}
# As many threads as the limit has processors; the node may have many more.
- name: KNOWHOW_WORKERS
  valueFrom:
    resourceFieldRef:
      containerName: knowhow
      resource: limits.cpu
      divisor: "1"
- name: KNOWHOW_DRAIN_S
  value: {{ .Values.drainSeconds | quote }}
- name: KNOWHOW_SHUTDOWN_TIMEOUT_S
  value: {{ .Values.shutdownSeconds | quote }}
- name: KNOWHOW_WORKER_CONCURRENCY
  value: {{ .Values.worker.concurrency | quote }}
{{- with .Values.publicUrl }}
- name: KNOWHOW_PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.telemetry.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: OTEL_TRACES_SAMPLER
  value: parentbased_traceidratio
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ $.Values.telemetry.samplingRatio | quote }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.pod.name=$(POD_NAME),k8s.namespace.name={{ $.Release.Namespace }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $secret := .Values.secrets.settings }}
{{- if hasPrefix "KNOWHOW_" $name }}
- name: {{ $name }}_FILE
  value: /run/secrets/knowhow/{{ include "knowhow.file" $name }}
{{- else }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret.name }}
      key: {{ $secret.key }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "knowhow.mounts" -}}
- name: secrets
  mountPath: /run/secrets/knowhow
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- with .Values.pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "knowhow.volumes" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ .Values.secrets.database.name }}
          items:
            - key: {{ .Values.secrets.database.key }}
              path: database-url
      - secret:
          name: {{ .Values.secrets.secretKey.name }}
          items:
            - key: {{ .Values.secrets.secretKey.key }}
              path: secret-key
      {{- include "knowhow.databaseAuthorityFile" . | nindent 6 }}
      {{- range $name, $secret := .Values.secrets.settings }}
      {{- if hasPrefix "KNOWHOW_" $name }}
      - secret:
          name: {{ $secret.name }}
          items:
            - key: {{ $secret.key }}
              path: {{ include "knowhow.file" $name }}
      {{- end }}
      {{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- with .Values.pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Pods of one component over zones and nodes; matchLabelKeys count those of one rollout alone. */}}
{{- define "knowhow.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "knowhow.selector" $.root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end -}}

{{/* The process is up within 60 s; then it is restarted where it answers nothing for a minute, and left out of the Service
where its database, its schema or its draining say so. */}}
{{- define "knowhow.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ . }}}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 30
readinessProbe:
  httpGet: {path: /readyz, port: {{ . }}}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /healthz, port: {{ . }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- define "knowhow.grace" -}}
{{- add .Values.drainSeconds .Values.shutdownSeconds 5 -}}
{{- end -}}
