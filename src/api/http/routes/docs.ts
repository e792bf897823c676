import { Hono } from 'hono'
import type { ApiContext } from '../../context.ts'
import { noParameters, readQuery } from '../params.ts'

/** The description of the API. It contains no data of the user. */
export function docsRoutes({ version }: Pick<ApiContext, 'version'>): Hono {
  return new Hono().get('/openapi.json', async (c) => {
    readQuery(c, noParameters)
    // Loaded lazily: no other route needs the schemas of answers.
    const { openApiDocument } = await import('../openapi.ts')
    return c.json(openApiDocument(version))
  })
}
