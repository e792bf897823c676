import type { Route, Seen } from './route.ts'
import { archiveRoutes, hubRoutes, purgeRoutes } from './routes/acts.ts'
import { chatRoutes, exportRoutes } from './routes/chats.ts'
import { eventRoutes } from './routes/events.ts'
import { fileRoutes, projectRoutes } from './routes/projects.ts'
import { metricRoutes, statusRoutes } from './routes/status.ts'
import { searchRoutes } from './routes/search.ts'
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
