import { rowsAndTerms } from './0001-rows-and-terms.ts'
import { upkeep, asksAndSweeps, chatDigests, tokenLedger, identity, chatOfMessage, purges } from './0002-to-0009.ts'
import {
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
} from './0010-to-0019.ts'
import { machines } from './0020-machines.ts'
import { keptSums } from './0021-kept-sums.ts'
import { hub } from './0022-hub.ts'
import { messageFacts } from './0023-message-facts.ts'
import { deletions } from './0024-deletions.ts'
import { timesAndForks } from './0025-times-and-forks.ts'
import { estimates } from './0026-estimates.ts'

/** Append only: the mirror's `user_version` is the number of applied migrations. */
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
  machines,
  keptSums,
  hub,
  messageFacts,
  deletions,
  timesAndForks,
  estimates,
]
