import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

/** A row of a store that is written, or deleted if it has no value. Null is a value: Cursor deletes a chat with it. */
export type Change = readonly [key: string, value?: string | null]

/** The demo's Cursor, before its agent goes to work. Built by `test/demo/pack.ts`. */
export interface PackedHome {
  /** Text files by their path below the `User` folder. */
  readonly files: Readonly<Record<string, string>>
  readonly stores: readonly PackedStore[]
  /** Of the repository `tide-tables`, oldest first. */
  readonly commits: readonly PackedCommit[]
}

export interface PackedStore {
  /** Below the `User` folder. */
  readonly path: string
  readonly table: 'ItemTable' | 'cursorDiskKV'
  readonly rows: readonly Change[]
}

export interface PackedCommit {
  readonly atMs: number
  readonly subject: string
  readonly path: string
  readonly text: string
}

/** What the agent writes, move by move, and what it deletes. */
export interface PackedScript {
  readonly moves: readonly { readonly afterMs: number; readonly rows: readonly Change[] }[]
  readonly losses: readonly Change[]
}

/** The demo is packed as if this were now: a Friday of a year that its texts do not mention. */
export const PACKED_AT_MS = Date.UTC(2096, 4, 18, 13, 30)
/** Stands for the address of the demo's folder. */
export const PACKED_FOLDER = 'file:///packed-demo'

const WEEK_MS = 7 * 86_400_000

/** @param folder in which the demo's Cursor lies */
export const readHome = (folder: string, nowMs: number): PackedHome => read('home', folder, nowMs) as PackedHome
export const readScript = (folder: string, nowMs: number): PackedScript => read('script', folder, nowMs) as PackedScript

function read(name: string, folder: string, nowMs: number): unknown {
  // The path leads to the same place from every folder of dist.
  const packed = readFileSync(new URL(`../demo/${name}.json.br`, import.meta.url))
  return JSON.parse(placed(brotliDecompressSync(packed).toString('utf8'), folder, nowMs))
}

/** The packed text with the times and the folder of this demo. */
export function placed(text: string, folder: string, nowMs: number): string {
  const shifted = (packedMs: number): number => {
    const shiftMs = nowMs - PACKED_AT_MS
    // Whole weeks keep the weekday and the hour. Recent chats keep their age instead.
    const isRecent = packedMs > PACKED_AT_MS - 2 * WEEK_MS
    return packedMs + (isRecent ? shiftMs : Math.floor(shiftMs / WEEK_MS) * WEEK_MS)
  }
  return text
    .replaceAll(PACKED_FOLDER, pathToFileURL(folder).href)
    .replaceAll(/\b39[5-9]\d{10}\b/g, (epochMs) => String(shifted(Number(epochMs))))
    .replaceAll(/\b209[56]-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(shifted(Date.parse(time))).toISOString())
}
