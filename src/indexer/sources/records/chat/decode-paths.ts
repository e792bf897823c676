import { normaliseRoot } from '../../../projects/root-uri.ts'
import { readFileUri } from './decode-evidence.ts'
import { asRecord, listIn, recordIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** Enough to find the root that contains most of them. */
const pathsMax = 12
const lengthMax = 4096

/**
 * Files and folders that a chat is about, as distinct normalised URIs. They decide where a chat belongs if there is no
 * other evidence. Relative paths are useless for that. Of `context`, which is the unsent draft, only the attached
 * places are read.
 */
export function decodePaths(chat: JsonRecord): readonly string[] {
  const found = new Set<string>()
  for (const place of namedPlaces(chat)) {
    const uri = readPlace(place)
    if (uri !== null && uri.length <= lengthMax) found.add(uri)
    if (found.size === pathsMax) break
  }
  return [...found]
}

function* namedPlaces(chat: JsonRecord): Generator<unknown, void> {
  const context = recordIn(chat, 'context')
  yield* listIn(context, 'fileSelections')
  yield* listIn(context, 'folderSelections')
  yield* listIn(chat, 'newlyCreatedFiles')
  // Their values are the texts of files; only the keys are read, which are URIs.
  yield* Object.keys(recordIn(chat, 'codeBlockData') ?? {})
  yield* Object.keys(recordIn(chat, 'originalFileStates') ?? {})
  yield* listIn(context, 'attachedCodeChunks')
  yield* listIn(chat, 'attachedCodeChunks')
  yield* listIn(chat, 'allAttachedFileCodeChunksUris')
}

function readPlace(place: unknown): string | null {
  const uri = readFileUri(asRecord(place)?.['uri']) ?? readFileUri(place)
  return uri === null ? null : (normaliseRoot(uri)?.uri ?? null)
}
