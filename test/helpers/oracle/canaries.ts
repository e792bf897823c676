import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Words in data that must not be read. Each begins differently: a full-text index stores terms without the beginning
 * that they share with the former term, which would hide a word from a search of the bytes.
 */
export const canaries = {
  draftText: 'wqzodraftkarpfenteich',
  draftRichText: 'xjvudraftlampenschirm',
  draftBesideMessages: 'yfkedraftmandelkuchen',
  emptyStateDraft: 'zbpadraftnebelhorn',
  accessToken: 'qhtrtokenoberlicht',
  secretItem: 'vmxisecretpfeilschwanz',
  serverConfig: 'kgwoconfigquastenflosser',
  otherItem: 'jdzyitemregenpfeifer',
  encryptionKey: 'fxqukeyschnabeltier',
  blobKey: 'hvckkeytaubenschlag',
  signature: 'pzwesignunkenruf',
  imageBytes: 'gxlibytesvogelbeere',
  blob: 'bqjoblobwiedehopf',
  checkpoint: 'cwfycheckzaunkoenig',
  diff: 'dkxudiffameisenbaer',
  fileContent: 'lvqafilebirkenzeisig',
  originalFile: 'mjhzfiledachsbau',
  originalState: 'nqbistateeisvogel',
  requestContext: 'rxgocontextfischotter',
  unknownFamily: 'tzvyfamilygoldhamster',
} as const

/** @returns the names of all canaries in these bytes, in any letter case, whole or without their first letters */
export function canariesIn(bytes: string): string[] {
  const folded = bytes.toLowerCase()
  return Object.entries(canaries).flatMap(([name, word]) => (folded.includes(word.slice(4)) ? [name] : []))
}

/** All bytes of all files below a folder, as one character per byte. */
export function bytesBelow(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join('\n')
}
