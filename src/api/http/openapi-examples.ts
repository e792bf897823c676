import examples from '../../../docs/openapi-examples.json' with { type: 'json' }

/** A real answer of each route, by `GET /api/search`. A test makes them and compares. */
export const openApiExamples: Readonly<Record<string, unknown>> = examples
