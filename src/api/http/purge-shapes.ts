import type { PurgeScope } from '../../mirror/purge/scope.ts'
import type { PurgeReport } from './schemas/purge.ts'

export interface PurgeRequest {
  readonly scope: PurgeScope
  /** Told what would go; nothing goes. */
  readonly isDryRun: boolean
}

/** Removes for good. Handed to the HTTP side, which only reads. */
export interface PurgeActs {
  /** @throws UserError `purge-busy` while another one runs */
  purge(request: PurgeRequest): Promise<PurgeReport>
  /** Goes on without bars that are missing: what they kept out may come in again. */
  acceptLostBars(): Promise<void>
  /** See `PurgeState`. */
  readonly doing: string | null
}
