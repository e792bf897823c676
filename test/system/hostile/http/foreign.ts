import type { Ask, Target } from './target.ts'
import type { KnownRoute } from './known-routes.ts'

type Headers = Readonly<Record<string, string>>

/** Headers by which a foreign page, or a DNS name that points to this machine, could try to get access. */
export function foreignHeaders(local: string): readonly Headers[] {
  const [, port = ''] = local.split(':')
  const hosts = [
    'evil.com',
    `evil.com:${port}`,
    `localhost.evil.com:${port}`,
    `127.0.0.1.evil.com:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}@evil.com`,
    `127.0.0.1.:${port}`,
    `localhost.:${port}`,
    '127.0.0.1',
    'localhost',
    '[::1]',
    '127.0.0.1:80',
    '127.0.0.1:1',
    `127.0.0.1:0${port}`,
    `127.0.0.1:${port}0`,
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0x7f.0.0.1:${port}`,
    `127.0.0.2:${port}`,
    `[::]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `::1:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `[::1%25lo]:${port}`,
    `127.0.0.1:${port}/`,
    `127.0.0.1:${port}#`,
    `127.0.0.1:${port}?`,
    `127.0.0.1:${port},evil.com`,
    '',
    ':',
    '*',
    `http://127.0.0.1:${port}`,
    `127.0.0.1%3a${port}`,
    `\u00e9:${port}`,
    'a'.repeat(5e3),
    `127.0.0.1 :${port}`,
  ]
  const origins = [
    'null',
    '',
    'http://evil.com',
    `http://evil.com:${port}`,
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1',
    'http://localhost:3000',
    `http://127.0.0.1:${port}.evil.com`,
    `http://127.0.0.1:${port}/`,
    `ws://127.0.0.1:${port}`,
    `http://user@127.0.0.1:${port}`,
    `http://127.0.0.1:${port}, http://evil.com`,
    `http://127.0.0.1:${port} http://evil.com`,
    `127.0.0.1:${port}`,
    'file://',
    'chrome-extension://x',
    `http://localhost.:${port}`,
    'http://[::1]',
    'x'.repeat(5e3),
  ]
  const sites = ['cross-site', 'same-site', 'else', '', 'none, cross-site', 'SAME-ORIGIN', 'same-origin; x', 'null']
  return [
    ...hosts.map((host) => ({ host })),
    ...hosts.slice(0, 3).map((host) => ({ host, origin: `http://${local}`, 'sec-fetch-site': 'same-origin' })),
    ...hosts.slice(0, 2).map((host) => ({ host, 'x-forwarded-host': local, forwarded: `host=${local}` })),
    ...origins.map((origin) => ({ host: local, origin })),
    ...sites.map((site) => ({ host: local, 'sec-fetch-site': site })),
    { host: local, origin: 'null', 'sec-fetch-site': 'none' },
    { host: local, origin: `http://${local}`, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { host: local, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ]
}

/** A request to each route from each foreign client. */
export async function attackAsForeigner(target: Target, routes: readonly KnownRoute[]): Promise<void> {
  const asks = routes.flatMap(({ method, path }) =>
    foreignHeaders(target.local).flatMap((headers): Ask[] => [
      { method, path, headers: headers },
      ...(method === 'GET' ? [{ method: 'HEAD', path, headers: headers }] : []),
    ]),
  )
  await target.attackAll(asks, { isForeign: true })
}
