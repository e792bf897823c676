import { endedBy, openCursorFile, type ClosedFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import type { WholeContent } from '../../open-safely/whole-store.ts'
import { decodeItems } from './decode-item.ts'
import { decodeHeaderTable } from './decode-table.ts'
import { workspaceRoots } from '../records/chat/user-folder.ts'
import { tabKeys } from '../records/chat/decode-tabs.ts'
import {
  findLayout,
  glance,
  isLastPage,
  itemKeys,
  readHeaderPage,
  readItem,
  type Glance,
  type HeaderRows,
  type Layout,
} from './read.ts'

/** `same`: as far as can be seen without reading values, nothing has changed since the last look. */
export type Found =
  | { readonly kind: 'whole'; readonly glance: Glance; readonly content: WholeContent }
  | { readonly kind: 'same'; readonly bytesRead: number }
  | ClosedFile

/** @param seen what the last look saw; null to read in any case */
export function readStore(path: string, seen: Glance | null): Found {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return file
  try {
    return readOpen(file, path, seen)
  } catch (error) {
    return endedBy(error)
  } finally {
    file.close()
  }
}

function readOpen(file: OpenFile, path: string, seen: Glance | null): Found {
  // The glance comes first, so that changes made while the values are read show in the next one.
  const { layout, look } = file.read((db) => {
    const found = findLayout(db)
    const { lists, tabs, heldTabs } = glance(db, found)
    return { layout: found, look: { lists: `${file.identity} ${lists}`, tabs: `${file.identity} ${tabs}`, heldTabs } }
  })
  if (layout.trouble !== null) return { kind: 'closed', state: 'unreadable', detail: layout.trouble }
  const hasSameTabs = look.tabs === seen?.tabs
  if (hasSameTabs && look.lists === seen.lists) return { kind: 'same', bytesRead: file.bytesRead }
  return { kind: 'whole', glance: look, content: readAll(file, path, layout, hasSameTabs ? look.heldTabs : null) }
}

/** @param keptTabs items with unchanged tabs, which need not be read; null to read all tabs */
function readAll(file: OpenFile, path: string, layout: Layout, keptTabs: readonly string[] | null): WholeContent {
  let longestReadMs = 0
  const timed = <Value>(use: Parameters<typeof file.read<Value>>[0]): Value => {
    const startedAt = performance.now()
    const value = file.read(use)
    longestReadMs = Math.max(longestReadMs, performance.now() - startedAt)
    return value
  }
  const keys = layout.hasItems ? itemKeys.filter((key) => keptTabs === null || !tabKeys.includes(key)) : []
  // One item per transaction: tabs can be large.
  const items = keys.flatMap((key) => timed((db) => readItem(db, key)) ?? [])
  const table = layout.columns === null ? null : readTable(timed, layout.columns)
  const values = [...items, ...(table?.rows ?? [])].map(({ value }) => value?.length ?? 0)
  return {
    pieces: [...decodeItems(items), ...(table === null ? [] : [decodeHeaderTable(table, workspaceRoots(path))])],
    keptKeys: new Set(keptTabs ?? []),
    workspaces: [],
    identity: file.identity,
    signature: file.signature,
    bytesRead: values.reduce((sum, length) => sum + length, file.bytesRead),
    longestReadMs,
  }
}

/** One page per transaction. */
function readTable(read: OpenFile['read'], columns: NonNullable<Layout['columns']>): HeaderRows {
  const rows: HeaderRows['rows'][number][] = []
  for (;;) {
    const page = read((db) => readHeaderPage(db, columns, rows.length))
    rows.push(...page.rows)
    if (page.isDamaged || isLastPage(page)) return { rows, isDamaged: page.isDamaged }
  }
}
