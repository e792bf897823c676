import type { Route, Seen } from './route.ts'
import { actRoutes } from './routes/acts.ts'
import { chatRoutes } from './routes/chats.ts'
import { projectRoutes } from './routes/projects.ts'
import { statusRoutes } from './routes/status.ts'

const all = [...statusRoutes, ...chatRoutes, ...projectRoutes, ...actRoutes]

/** All routes below `/api`, and the metrics. */
export const routes: readonly Route[] = all

/** What a client sees of them. */
export type ApiRoutes = Seen<(typeof all)[number]>
