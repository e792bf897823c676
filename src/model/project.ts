import type { ProjectId } from './ids.ts'

/** Location of a project's files if they are on another machine. */
export interface Remote {
  readonly kind: string
  readonly host: string
}

export interface ProjectRef {
  readonly id: ProjectId
  readonly name: string
}

/** There is one project per normalised root URI, even if Cursor has several workspace folders for it. */
export interface Project {
  readonly id: ProjectId
  readonly name: string
  readonly path: string
  readonly uri: string
  readonly remote: Remote | null
  readonly workspaceIds: readonly string[]
  readonly chatCount: number
  readonly messageCount: number
  readonly firstActivityAt: string | null
  readonly lastActivityAt: string | null
}
