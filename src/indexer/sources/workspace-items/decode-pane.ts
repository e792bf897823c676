import { asChatId } from '../../../model/ids.ts'
import { asRecord, wellFormed } from '../records/json/json-value.ts'
import { emptyItem, type ItemContent } from './item-content.ts'

const VIEW_PREFIX = 'workbench.panel.aichat.view.'

/** The state of a pane of the window: its keys name the chats that stood open in it. Null where it is no object. */
export function decodePane(value: unknown): ItemContent | null {
  const pane = asRecord(value)
  if (pane === null) return null
  const names = Object.keys(pane).filter((name) => name.startsWith(VIEW_PREFIX) && name.length > VIEW_PREFIX.length)
  return { ...emptyItem, openTabs: names.map((name) => asChatId(wellFormed(name.slice(VIEW_PREFIX.length)))) }
}
