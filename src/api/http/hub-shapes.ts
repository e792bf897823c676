import type { HubPulled, HubPushed, HubState } from './schemas/hub.ts'

export interface HubPushRequest {
  /** Null: what the settings say. */
  readonly projects: readonly string[] | null
  readonly isDryRun: boolean
}

/** Shares chats through a hub. Handed to the HTTP side, which only reads. All throw UserErrors that begin with `hub-`. */
export interface HubActs {
  push(request: HubPushRequest): Promise<HubPushed>
  /** @param projects null: what the settings say */
  pull(projects: readonly string[] | null): Promise<HubPulled>
  state(): Promise<HubState>
}
