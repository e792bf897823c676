import { normaliseRoot } from '../../../projects/root-uri.ts'
import { readFileUri } from './decode-evidence.ts'
import { asRecord, listIn, recordIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** Enough to tell which root most of them lie under. */
const pathsMax = 12
const lengthMax = 4096

/**
 * Files and folders that a chat is about, as normalised URIs, each once: they tell where it belongs where nothing says
 * so. Relative paths tell nothing. Of `context`, which is the unsent draft, only the attached places are looked at.
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
  // What these hold is the text of files; their keys are the files' URIs.
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
