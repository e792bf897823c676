import { asRecord, filledString, firstFilledIn } from '../json/json-value.ts'

/** The path a URI names: VS Code's URI as an object, or a string as it stands. */
export function readUriPath(uri: unknown): string | null {
  return filledString(uri) ?? firstFilledIn(asRecord(uri), ['fsPath', 'path', 'external', 'relativeWorkspacePath'])
}

/** The path of a thing that has a `uri`, or is one. */
export function readItemPath(item: unknown): string | null {
  return readUriPath(asRecord(item)?.['uri']) ?? readUriPath(item)
}
