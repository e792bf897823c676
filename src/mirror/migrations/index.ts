import { rowsAndTerms } from './0001-rows-and-terms.ts'
import { upkeep } from './0002-upkeep.ts'
import { asksAndSweeps } from './0003-asks-and-sweeps.ts'
import { chatDigests } from './0005-chat-digests.ts'
import { tokenLedger } from './0006-token-ledger.ts'
import { identity } from './0007-identity.ts'
import { chatOfMessage } from './0008-chat-of-message.ts'
import { purges } from './0009-purges.ts'
import { fullPages } from './0010-full-pages.ts'
import { tombstonesInTime } from './0011-tombstones-in-time.ts'
import { fencedCode } from './0012-fenced-code.ts'
import { unlisted } from './0013-unlisted.ts'
import { namesInUnspacedText } from './0014-names-in-unspaced-text.ts'
import { firstId } from './0015-first-id.ts'
import { unplaced } from './0016-unplaced.ts'
import { placeholderTokens } from './0017-placeholder-tokens.ts'
import { tracking } from './0018-tracking.ts'
import { decoders } from './0019-decoders.ts'

/** Append only: the number of migrations done is the mirror's `user_version`. */
export const migrations: readonly string[] = [
  rowsAndTerms,
  upkeep,
  asksAndSweeps,
  chatDigests,
  tokenLedger,
  identity,
  chatOfMessage,
  purges,
  fullPages,
  tombstonesInTime,
  fencedCode,
  unlisted,
  namesInUnspacedText,
  firstId,
  unplaced,
  placeholderTokens,
  tracking,
  decoders,
]
