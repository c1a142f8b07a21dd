// Begins the body of a request empty if the document has no example of it. Swagger UI would invent one from the schema and send
// it, such as the comment "string" with a decision.
const EmptyBodies = {
  afterLoad() {
    const sample = this.fn.getSampleSchema
    this.fn.getSampleSchema = (schema, mediaType, config, example) => {
      const plain = schema && schema.toJS ? schema.toJS() : schema
      const isGiven = [example, plain?.example, plain?.examples].some((given) => given !== undefined)
      // A part of a form has no media type of its own.
      const isOfRequest = config?.includeWriteOnly === true && typeof mediaType === "string"
      return isOfRequest && !isGiven ? "" : sample(schema, mediaType, config, example)
    }
  },
}

