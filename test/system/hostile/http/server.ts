import { readdirSync, readFileSync } from 'node:fs'
import { CursorHome } from '../../../helpers/cursor.ts'
import { fillStore } from '../../../helpers/fill-store.ts'
import { RunningDaemon } from '../../../helpers/running-daemon.ts'
import { waitUntil } from '../../../helpers/wait-until.ts'
import { knownRoutes, type KnownRoute } from './known-routes.ts'
import { Target } from './target.ts'

interface List {
  readonly items: readonly { readonly id: string }[]
}

const assets = new URL('../../../../dist/web/assets/', import.meta.url)
const builtAsset = (): string => readdirSync(assets).find((name) => name.endsWith('.js')) ?? ''

/** The compiled program with a small store that has something for every route. */
export class AttackedServer {
  readonly daemon: RunningDaemon
  readonly target: Target
  readonly routes: readonly KnownRoute[]
  readonly #home: CursorHome

  private constructor(daemon: RunningDaemon, home: CursorHome, routes: readonly KnownRoute[]) {
    this.daemon = daemon
    this.target = new Target(Number(new URL(daemon.url).port))
    this.routes = routes
    this.#home = home
  }

  static async start(): Promise<AttackedServer> {
    const home = new CursorHome()
    home.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['chat-0'])
    fillStore(home.global(), { chats: 5, messagesPerChat: 20 })
    const daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
    await daemon.waitReady()
    const [chat] = (await daemon.get<List>('/api/chats')).items
    const [project] = (await daemon.get<List>('/api/projects')).items
    const { name } = await daemon.post<{ readonly name: string }>('/api/archives')
    const isMade = async () => (await daemon.get<{ state: string }>(`/api/archives/${name}`)).state === 'verified'
    await waitUntil('an archive', isMade)
    const names = { chat: chat?.id ?? '', project: project?.id ?? '', archive: name, asset: builtAsset() }
    return new AttackedServer(daemon, home, knownRoutes(names))
  }

  /** Every route of the API with the names of its parameters, as the server itself describes them. */
  async parameters(): Promise<(KnownRoute & { readonly names: readonly string[] })[]> {
    interface Operation {
      readonly parameters?: readonly { readonly in: string; readonly name: string }[]
    }
    const { paths } = await this.daemon.get<{ paths: Record<string, Record<string, Operation>> }>('/openapi.json')
    const described = this.routes.filter(({ path }) => path.startsWith('/api/'))
    return described.map((route) => {
      const operation = paths[route.pattern.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()]
      if (operation === undefined) throw new Error(`${route.method} ${route.pattern} is not described`)
      const names = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
      return { ...route, names: names.map(({ name }) => name) }
    })
  }

  /** Megabytes that the process uses. 0 if the system does not report it. */
  get megabytes(): number {
    if (process.platform !== 'linux') return 0
    const { pid } = JSON.parse(readFileSync(`${this.daemon.dataDir}/daemon.json`, 'utf8')) as { pid: number }
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  }

  /** Errors in its log. */
  get errors(): string[] {
    return this.daemon.stderr.split('\n').filter((line) => /"level":[56]0/.test(line))
  }

  async stop(): Promise<void> {
    this.target.close()
    await this.daemon.stop()
    this.#home.remove()
  }
}
