import { type CursorHome, headers, type Store } from '../../../helpers/cursor.ts'
import { makeHeaderTable, putHeader } from '../../../helpers/eras/global-items.ts'
import { readJson } from '../../../helpers/cases.ts'
import { asBase64, keepBlob, stateOf } from '../../../helpers/blob-store.ts'
import { tokenOf } from './tokens.ts'

/**
 * `items`: keys of the table with settings and tokens, at least one of each kind that is never read. `namedItems` and
 * `namedRows` have the secret in the key itself, for `{token}`.
 */
const keys = readJson(import.meta.url, 'secret-keys.json') as Readonly<
  Record<'items' | 'namedItems' | 'namedRows', readonly string[]>
>

/** Fills a home with secrets, each next to data that is read. @returns where they are hidden */
export function hideSecrets(home: CursorHome): string[] {
  const places: string[] = []
  const hide = (place: string): string => {
    places.push(place)
    return tokenOf(place)
  }
  const store = home.global()
  const workspace = home.workspace('ws1', { folder: 'file:///w/shop' }, [])
  for (const [name, each] of [['global', store] as const, ['workspace', workspace] as const])
    hideItems(name, each, hide)
  hideRows(store, hide)
  hideInChats(store, hide)
  hideInDrafts(store, hide)
  hideInLists(store, workspace, hide)
  return places
}

type Hide = (place: string) => string

function hideItems(name: string, store: Store, hide: Hide): void {
  for (const key of keys.items) {
    const token = hide(`${name} ${key}`)
    store.item(
      key,
      key.length % 2 === 0 ? token : { version: 1, value: [{ accessToken: token, account: { id: token } }] },
    )
  }
  for (const [at, key] of keys.namedItems.entries()) {
    store.item(key.replace('{token}', hide(`${name} key ${at}`)), { enabled: true })
  }
}

function hideRows(store: Store, hide: Hide): void {
  for (const [at, key] of keys.namedRows.entries()) {
    store.put(key.replace('{token}', hide(`row key ${at}`)), { enabled: true })
  }
  for (const family of ['agentKv:blob:', 'composer.content.', 'checkpointId:', 'messageRequestContext:', 'tomorrow:']) {
    store.put(`${family}${'ab'.repeat(32)}`, { role: 'system', content: hide(`row ${family}`) })
  }
  store.put('ofsContent:talk:file:///p/a.ts', hide('row ofsContent'))
  store.put(null, { text: hide('row without a key') })
}

const keysOf = (name: string, hide: Hide): Record<string, unknown> => ({
  speculativeSummarizationEncryptionKey: hide(`${name} summary key`),
  blobEncryptionKey: hide(`${name} blob key`),
})

/** Chats from messages, from their own row, and from the model's input. */
function hideInChats(store: Store, hide: Hide): void {
  store.chat('talk', { name: 'Talk', fullConversationHeadersOnly: headers(['m1', 'm2']), ...keysOf('talk', hide) })
  store.message('talk', 'm1', { type: 1, text: 'Turn the mill' })
  store.message('talk', 'm2', {
    type: 2,
    text: 'It turns',
    thinking: { text: 'How?', signature: hide('thinking signature') },
    images: [{ data: hide('image bytes') }],
    ...keysOf('message', hide),
  })
  const conversation = [{ bubbleId: 'a', type: 1, text: 'Kept inside', ...keysOf('embedded message', hide) }]
  store.chat('inline', { name: 'Inline', conversation, ...keysOf('inline', hide) })
  const ids = [
    { role: 'system', content: hide('system prompt') },
    { role: 'user', content: 'Grind the corn' },
  ].map((message) => keepBlob(store, message))
  store.chat('model', {
    name: 'Model',
    fullConversationHeadersOnly: headers(['gone']),
    conversationState: asBase64(stateOf(ids)),
    ...keysOf('model', hide),
  })
  store.chat('torn', {
    name: 'Torn',
    fullConversationHeadersOnly: headers(['m1']),
    ...keysOf('torn', hide),
    createdAt: [],
  })
}

function hideInDrafts(store: Store, hide: Hide): void {
  const draft = (name: string): Record<string, unknown> => ({
    text: hide(`${name} text`),
    richText: JSON.stringify({ root: { children: [{ type: 'text', text: hide(`${name} rich text`) }] } }),
  })
  store.chat('draft', { isDraft: true, fullConversationHeadersOnly: [], ...draft('draft') })
  store.chat('unnamed-draft', draft('unnamed draft'))
  store.chat('empty-state-draft', draft('empty-state draft'))
  store.chat('draft-beside', { fullConversationHeadersOnly: headers(['m1']), ...draft('draft beside a message') })
  store.message('draft-beside', 'm1', { type: 1, text: 'Already sent' })
  store.chat('draft-inline', { conversation: [{ bubbleId: 'a', type: 1, text: 'Sent' }], ...draft('draft inline') })
}

function hideInLists(store: Store, workspace: Store, hide: Hide): void {
  const head = (name: string, composerId: string): Record<string, unknown> => ({
    composerId,
    type: 'head',
    name: `Head ${composerId}`,
    text: hide(`${name} draft`),
    richText: hide(`${name} rich draft`),
    ...keysOf(name, hide),
  })
  store.item('composer.composerHeaders', { allComposers: [head('list', 'talk')] })
  makeHeaderTable(store.db, '3.9')
  putHeader(store.db, { composerId: 'inline', value: head('table', 'inline') })
  const conversation = [{ bubbleId: 'w', type: 1, text: 'Woven here' }]
  workspace.item('composer.composerData', {
    allComposers: [
      { ...head('workspace', 'woven'), type: 'composer', conversation },
      head('workspace head', 'model'),
      {
        composerId: 'woven-draft',
        text: hide('unsent in the workspace'),
        conversation: [],
        ...keysOf('unsent', hide),
      },
    ],
  })
}
