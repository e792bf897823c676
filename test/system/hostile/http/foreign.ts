import { readJson, writtenOut } from '../../../helpers/cases.ts'
import type { Ask, Target } from './target.ts'
import type { KnownRoute } from './known-routes.ts'

type Headers = Readonly<Record<string, string>>

/** `{port}` is the server's own port. */
const lists = writtenOut(
  readJson(import.meta.url, 'foreign.json') as Readonly<Record<'hosts' | 'origins' | 'sites', readonly string[]>>,
)

/** Headers by which a foreign page, or a DNS name that points to this machine, could try to get access. */
export function foreignHeaders(local: string): readonly Headers[] {
  const [, port = ''] = local.split(':')
  const [hosts, origins] = [lists.hosts, lists.origins].map((list) => list.map((each) => each.replace('{port}', port)))
  if (hosts === undefined || origins === undefined) throw new Error('there are two lists')
  return [
    ...hosts.map((host) => ({ host })),
    ...hosts.slice(0, 3).map((host) => ({ host, origin: `http://${local}`, 'sec-fetch-site': 'same-origin' })),
    ...hosts.slice(0, 2).map((host) => ({ host, 'x-forwarded-host': local, forwarded: `host=${local}` })),
    ...origins.map((origin) => ({ host: local, origin })),
    ...lists.sites.map((site) => ({ host: local, 'sec-fetch-site': site })),
    { host: local, origin: 'null', 'sec-fetch-site': 'none' },
    { host: local, origin: `http://${local}`, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { host: local, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ]
}

/** The first routes get requests from each foreign client, and each other route from some of them. */
export async function attackAsForeigner(target: Target, routes: readonly KnownRoute[]): Promise<void> {
  const asks = routes.flatMap(({ method, path }, route) =>
    foreignHeaders(target.local)
      .filter((_, at) => route < 4 || (at + route) % 8 === 0)
      .flatMap((headers): Ask[] => [
        { method, path, headers },
        ...(method === 'GET' ? [{ method: 'HEAD', path, headers }] : []),
      ]),
  )
  await target.attackAll(asks, { isForeign: true })
}
