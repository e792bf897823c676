import { canaries } from '../oracle/canaries.ts'
import { headers } from '../../../src/sample/cursor-home.ts'
import type { Store } from '../../../src/sample/cursor-home.ts'
import { iso, minute } from './chats.ts'

/** Rows of every kind, each with sound neighbours, and data that must not be read. */
export function writeRows(store: Store): void {
  writeTimes(store)
  writeTexts(store)
  writeTools(store)
  writeParts(store)
  writeEncodings(store)
  writeUnreadable(store)
  writeDrafts(store)
  writeNoise(store)
}

function thread(store: Store, id: string, messages: readonly Record<string, unknown>[], chat = {}): void {
  const ids = messages.map((_, at) => `m${at + 1}`)
  store.chat(id, { name: `Chat ${id}`, fullConversationHeadersOnly: headers(ids), ...chat })
  for (const [at, message] of messages.entries()) store.message(id, `m${at + 1}`, message)
}

function writeTimes(store: Store): void {
  const list = headers(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10']).map((header, at) => ({
    ...header,
    ...(at === 3 ? { createdAt: minute(4) } : {}),
    ...(at === 4 ? { startedAtMs: minute(5) } : {}),
  }))
  const relative = { clientStartTime: 4_745_281.3 }
  thread(
    store,
    'times',
    [
      { type: 1, text: 'Time as text', createdAt: iso(1) },
      { type: 2, text: 'Time as a number', createdAt: minute(2) },
      { type: 1, text: 'Time as a fraction', createdAt: minute(3) + 0.25 },
      { type: 2, text: 'Time in the list', timingInfo: { clientStartTime: minute(9) } },
      { type: 1, text: 'Start in the list' },
      { type: 2, text: 'Time of the request', timingInfo: { clientStartTime: minute(6), clientEndTime: minute(7) } },
      {
        type: 1,
        text: 'Time of the request, relative start',
        timingInfo: { ...relative, clientRpcSendTime: minute(7) },
      },
      { type: 2, text: 'Nothing but a relative start', timingInfo: relative },
      { type: 1, text: 'The time after it', createdAt: iso(9) },
      { type: 2, text: 'The last, without a time', createdAt: 'yesterday' },
    ],
    { createdAt: minute(0), fullConversationHeadersOnly: list },
  )
  const bare = [
    { type: 1, text: 'No time' },
    { type: 2, text: 'No time either' },
  ]
  thread(store, 'times-of-chat', bare, { createdAt: minute(300) })
  thread(store, 'times-nowhere', bare)
}

function writeTexts(store: Store): void {
  const paragraph = (...children: object[]): object => ({ type: 'paragraph', children })
  const word = (text: string): object => ({ type: 'text', text })
  const rich = {
    root: {
      type: 'root',
      children: [
        paragraph(word('Rich'), { type: 'tab' }, word('text'), { type: 'linebreak' }, word('broken')),
        paragraph(word('Second paragraph')),
      ],
    },
  }
  const texts: Record<string, unknown>[] = [
    { text: 'Plain wins', richText: JSON.stringify(rich) },
    { text: '', richText: JSON.stringify(rich) },
    { richText: rich },
    { text: '', richText: 'Rich only by name' },
    { rawText: 'Raw text', content: 'Not this' },
    { delegate: 'Delegated text' },
    { initText: 'Initial text' },
    { content: 'Content text', message: 'Not this' },
    { message: 'Message text' },
    { text: '  \r\n\tleading, trailing and control \u0000\u0007\u001b[31m signs \u202e\u{1f468}\u200d\u{1f4bb} \n\n' },
    { text: '<script>alert("1")</script> &amp; <user_query>kept as it is</user_query>' },
  ]
  thread(
    store,
    'texts',
    texts.map((text, at) => ({ type: 1, createdAt: iso(400 + at), ...text })),
    { createdAt: minute(400) },
  )
}

function writeTools(store: Store): void {
  const json = JSON.stringify
  const calls: Record<string, unknown>[] = [
    { name: 'read_file', status: 'completed', toolCallId: 'call_1\nfc_1', params: json({ targetFile: 'src/a.ts' }) },
    {
      name: 'grep',
      status: 'error',
      rawArgs: json({ pattern: 'x' }),
      error: json({ clientVisibleErrorMessage: 'No x' }),
    },
    { name: 'edit_file', status: 'loading', params: '', rawArgs: '{"target_file": "src/b' },
    { name: 'web_search', status: 'cancelled', params: { query: 'an object' }, result: { results: [] } },
    { name: 'run_terminal_cmd', status: 'completed', userDecision: 'rejected', params: json({ command: 'rm x' }) },
    { name: 'run_terminal_command_v2', status: 'completed', result: json({ rejected: true }) },
    { name: 'run_terminal_cmd', status: 'completed', result: 'plain output, no JSON' },
    { name: 'ask_question', status: 'completed', additionalData: { status: 'pending' } },
    { name: 'ask_question', status: 'completed', additionalData: { status: 'cancelled' } },
    { name: 'ask_question', status: 'completed', additionalData: { status: 'submitted' } },
    { name: 'mcp_db_query', status: 'error', error: json({ modelVisibleErrorMessage: 'Denied by the server' }) },
    {
      name: 'run_terminal_cmd',
      status: 'completed',
      additionalData: { blockReason: 'not allowed' },
      result: '{"output":"none"}',
    },
    ...['accept', 'run', 'reject', 'rejectAndTellWhatToDoDifferently'].flatMap((selectedOption) =>
      ['Done', 'None'].map((status) => ({
        name: 'run_terminal_cmd',
        status: 'completed',
        additionalData: { blockReason: 'outOfWorkspace', reviewData: { status, selectedOption } },
        result: json({ output: `after ${selectedOption}`, rejected: false }),
      })),
    ),
    {
      name: 'a_tool_of_tomorrow',
      status: 'completed',
      params: json({ deep: { list: [1, 'two', null] } }),
      result: '[]',
    },
  ]
  thread(
    store,
    'tools',
    calls.map((toolFormerData, at) => ({ type: 2, createdAt: iso(430 + at), toolFormerData })),
    { createdAt: minute(430) },
  )
  const bubbleDataMap = { m1: { name: 'list_dir', status: 'completed', params: json({ directory: 'old' }) } }
  const bare = [{ type: 2, createdAt: iso(450) }]
  thread(store, 'tools-in-chat', bare, { capabilities: [{ type: 1 }, { type: 15, data: { bubbleDataMap } }] })
  const packed = { bubbleDataMap: json(bubbleDataMap) }
  thread(store, 'tools-packed', bare, { capabilities: [{ type: 15, data: packed }] })
}

function writeParts(store: Store): void {
  const code = { content: 'const a = 1', languageId: 'typescript', uri: { fsPath: '/p/a.ts' } }
  thread(
    store,
    'parts',
    [
      {
        type: 1,
        text: 'With all that a question has',
        attachedCodeChunks: [{ relativeWorkspacePath: 'src/attached.ts', lines: ['one', 'two'] }],
        images: [{ data: canaries.imageBytes, mimeType: 'image/png' }],
        modelInfo: { modelName: 'default' },
        isSimulatedMsg: true,
      },
      {
        type: 2,
        text: 'With all that an answer has',
        thinking: { text: 'A thought', signature: canaries.signature },
        codeBlocks: [code, { content: 'an answer', languageId: 'text' }],
        toolFormerData: { name: 'todo_write', status: 'completed' },
        todos: [{ id: '1', content: 'An item', status: 'pending' }, '{"id":"2","content":"A packed item"}'],
        errorDetails: { error: 'ERROR_BAD', details: { title: 'It went wrong' } },
        tokenCount: { inputTokens: 4469, outputTokens: 1407 },
      },
      { type: 2, thinking: 'A thought as text', tokenCount: { inputTokens: 0, outputTokens: 0 } },
      { type: 2, allThinkingBlocks: [{ thinking: 'An old thought', signature: canaries.signature }] },
      { type: 2, codeBlocks: [code] },
      { type: 2, errorDetails: { message: 'Nothing but an error' } },
      { type: 99, text: 'Of a type nobody has seen' },
      { type: 2, text: '', tokenCount: { inputTokens: 31, outputTokens: 7 } },
    ].map((message, at) => ({ createdAt: iso(460 + at), ...message })),
    {
      createdAt: minute(460),
      modelConfig: { modelName: 'auto' },
      speculativeSummarizationEncryptionKey: canaries.encryptionKey,
    },
  )
  store.chat('keyed', { fullConversationHeadersOnly: headers(['m1']), blobEncryptionKey: canaries.blobKey })
  store.message('keyed', 'm1', { type: 1, text: 'Beside a key', createdAt: iso(480) })
}

function writeEncodings(store: Store): void {
  const bytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  store.put('composerData:bytes', bytes({ name: 'In bytes', fullConversationHeadersOnly: headers(['m1', 'm2']) }))
  store.put(
    'bubbleId:bytes:m1',
    bytes({ type: 1, text: 'Bytes of a question: \u00e4\u20ac\u{1f600}', createdAt: iso(500) }),
  )
  store.put('bubbleId:bytes:m2', bytes({ type: 2, text: 'Bytes of an answer', createdAt: iso(501) }))

  const broken = (text: string): Buffer => {
    const [before = '', after = ''] = JSON.stringify({ type: 1, text, createdAt: iso(502) }).split('@')
    return Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xe2, 0x82]), Buffer.from(after)])
  }
  store.chat('broken-signs', { fullConversationHeadersOnly: headers(['m1', 'm2', 'm3']) })
  store.put('bubbleId:broken-signs:m1', broken('broken @ in bytes'))
  const insert = 'insert into cursorDiskKV (key, value) values (?, cast(? as text))'
  store.db.prepare(insert).run('bubbleId:broken-signs:m2', broken('broken @ in text'))
  store.message('broken-signs', 'm3', { type: 1, text: 'Sound', createdAt: iso(503) })
}

function writeUnreadable(store: Store): void {
  const ids = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8']
  store.chat('unreadable', { createdAt: minute(510), fullConversationHeadersOnly: headers(ids) })
  store.message('unreadable', 'm1', { type: 1, text: 'Sound before the damage', createdAt: iso(511) })
  store.put('bubbleId:unreadable:m2', '{"_v":2,"type":2,"text":"torn in the mid')
  store.put('bubbleId:unreadable:m3', '["a list"]')
  store.put('bubbleId:unreadable:m4', `{"type":2,"text":"${'x'.repeat(33 * 1024 * 1024)}"}`)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  store.put('bubbleId:unreadable:m5', `{"type":2,"text":"Deep beside","deep":${deep},"createdAt":"${iso(515)}"}`)
  store.put('bubbleId:unreadable:m6', '')
  const call = `{"name":"deep_call","status":"completed","params":"{}","result":${deep}}`
  store.put(
    'bubbleId:unreadable:m8',
    `{"type":2,"text":"Deep inside","toolFormerData":${call},"createdAt":"${iso(518)}"}`,
  )
  store.message('unreadable', 'm7', { type: 1, text: 'Sound after the damage', createdAt: iso(517) })

  store.put('composerData:torn', '{"_v":3,"name":"Torn","fullConv')
  store.message('torn', 'm1', { type: 1, text: 'Its chat is torn', createdAt: iso(520) })
  store.put('composerData:number', '42')
  store.message('number', 'm1', { type: 1, text: 'Its chat is a number', createdAt: iso(521) })

  store.put(null, { text: 'Under no key' })
  store.put(null, null)
  store.put('bubbleId:without-an-end', { type: 1, text: 'Under half a key' })
  const insert = `insert into cursorDiskKV (key, value) values (cast(? as text), '{"type":1,"text":"Under a broken key"}')`
  store.db.prepare(insert).run(Buffer.concat([Buffer.from('bubbleId:broken-key'), Buffer.from([0xff, 0x3a, 0x6d])]))
}

function writeDrafts(store: Store): void {
  store.chat('draft', {
    isDraft: true,
    text: canaries.draftText,
    fullConversationHeadersOnly: [],
    createdAt: minute(600),
  })
  store.chat('rich-draft', {
    richText: canaries.draftRichText,
    fullConversationHeadersOnly: [],
    createdAt: minute(601),
  })
  store.chat('empty-state-draft', { text: canaries.emptyStateDraft, fullConversationHeadersOnly: [] })
  const messages = [{ type: 1, text: 'Sent', createdAt: iso(602) }]
  thread(store, 'draft-beside', messages, {
    text: canaries.draftBesideMessages,
    richText: canaries.draftBesideMessages,
  })
}

function writeNoise(store: Store): void {
  store.item('cursorAuth/accessToken', canaries.accessToken)
  store.item('secret://{"extensionId":"x","key":"y"}', canaries.secretItem)
  store.item('cursorai/serverConfig', { config: canaries.serverConfig })
  store.item('telemetry.machineId', canaries.otherItem)
  store.put(`agentKv:blob:${'ab'.repeat(32)}`, { role: 'system', content: canaries.blob })
  store.put('checkpointId:split-3:c1', { files: [canaries.checkpoint] })
  store.put('codeBlockDiff:split-3:d1', { newModelDiffWrtV0: canaries.diff })
  store.put(`composer.content.${'cd'.repeat(32)}`, canaries.fileContent)
  store.put('ofsContent:split-3:file:///p/a.ts', canaries.originalFile)
  store.put('messageRequestContext:split-3:m1', { cursorRules: [canaries.requestContext] })
  store.put('tomorrowsFamily:split-3:m1', { text: canaries.unknownFamily })
  const messages = [{ type: 1, text: 'Beside bulk', createdAt: iso(610) }]
  const originalFileStates = { 'file:///p/a.ts': { content: canaries.originalState } }
  thread(store, 'bulk', messages, { originalFileStates })
}
