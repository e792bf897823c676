import type { ProjectId } from './ids.ts'

/** Where a project's files are when they are not on this machine. */
export interface Remote {
  readonly kind: string
  readonly host: string
}

export interface ProjectRef {
  readonly id: ProjectId
  readonly name: string
}

/** One per normalised root URI, however many workspace folders Cursor made for it. */
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
