import type { Route, Seen } from './route.ts'
import { archiveRoutes } from './routes/archives.ts'
import { chatRoutes, exportRoutes } from './routes/chats.ts'
import { eventRoutes } from './routes/events.ts'
import { fileRoutes } from './routes/files.ts'
import { hubRoutes } from './routes/hub.ts'
import { metricRoutes } from './routes/metrics.ts'
import { projectRoutes } from './routes/projects.ts'
import { purgeRoutes } from './routes/purge.ts'
import { searchRoutes } from './routes/search.ts'
import { statusRoutes } from './routes/status.ts'
import { tokenRoutes } from './routes/tokens.ts'

const all = [
  ...statusRoutes,
  ...searchRoutes,
  ...chatRoutes,
  ...exportRoutes,
  ...projectRoutes,
  ...fileRoutes,
  ...tokenRoutes,
  ...archiveRoutes,
  ...purgeRoutes,
  ...hubRoutes,
  ...eventRoutes,
  ...metricRoutes,
]

/** All routes below `/api`, and the metrics. */
export const routes: readonly Route[] = all

/** What a client sees of them. */
export type ApiRoutes = Seen<(typeof all)[number]>
