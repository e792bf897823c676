import Database from '../src/sqlite.ts'
import { p50and95, table, timeInTurns, type Workshop } from './workshop.ts'

const EACH = 20
const timesEach = (path: string): string[] => Array.from({ length: EACH }, () => path)

/** The floor of statistics from the messages themselves: reads each message once, with its quarter of an hour. */
const FLOOR = `select created_at / 900000, role, count(*) from messages group by 1, 2`

const reports = [
  '/api/stats?tz=Europe/Berlin',
  '/api/stats?tz=Europe/Berlin&bucket=month',
  '/api/stats?tz=Europe/Berlin&from=2025-03&to=2025-04',
  '/api/tokens?groupBy=day',
  '/api/tokens?groupBy=model',
  '/api/tokens?groupBy=chat',
  '/api/projects',
  '/api/chats?limit=50',
  '/api/status',
]

/** How long reports over everything take over HTTP, beside one bare statement over the same messages. */
export async function reportLatency(shop: Workshop): Promise<void> {
  const rivals = await shop.startRivals()
  const mirror = new Database(rivals[0]?.daemon.mirrorPath ?? '', { readonly: true })
  const statement = mirror.prepare(FLOOR)
  const asks = rivals.map(({ daemon }) => daemon.get.bind(daemon))
  const rows: string[][] = []
  for (const path of reports) {
    const times = await timeInTurns(timesEach(path), asks)
    rows.push([path, ...times.flatMap(p50and95)])
  }
  const [floor = []] = await timeInTurns(Array.from({ length: EACH }), [() => statement.all()])
  rows.push(['floor: counting the messages', ...p50and95(floor)])
  mirror.close()
  shop.say(table(['report', ...rivals.flatMap(({ name }) => [`${name} p50 ms`, 'p95'])], rows))
}
