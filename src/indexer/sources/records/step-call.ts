import table from './step-tools.json' with { type: 'json' }
import type { JsonRecord } from './json.ts'
import { bytesIn, messageIn, numberAt, readWire, textIn, type WireField } from './wire.ts'

/** What is read of a message, by name: the number of its field, and what it is if not one text. `list`: of messages. */
type Shape = { readonly [name: string]: readonly [number: number, of?: 'number' | 'texts' | 'list', each?: Shape] }

interface Tool {
  readonly name: string
  readonly args: Shape
  /** In the first field of the result, which is a success. */
  readonly output: Shape
}

/**
 * By the number of the field that holds the call. The numbers, and those of the fields, are from a published description of
 * Cursor's messages; the ones for shell, glob, grep, read, edit, web search and web fetch were seen in stores.
 */
const tools = table as unknown as Readonly<Record<string, Tool>>

const MCP = 15
const CALL_ID = 57
/** Fields of a call beside the tool's: hooks, its id, when it began and ended. */
const beside: ReadonlySet<number> = new Set([54, CALL_ID, 59, 60])
const CALL_ID_BYTES_MAX = 200

/** A call with its arguments and its result, as parts of a model's message, and short texts of which one may be its id. */
export function decodeStepCall(fields: readonly WireField[]) {
  const call = fields.find(({ number, value }) => !beside.has(number) && Buffer.isBuffer(value))
  const value = call !== undefined && Buffer.isBuffer(call.value) ? (readWire(call.value) ?? []) : []
  const args = messageIn(value, 1)
  const texts = [...fields, ...value, ...args].flatMap((each) =>
    Buffer.isBuffer(each.value) && each.value.length <= CALL_ID_BYTES_MAX ? [each.value.toString('utf8')] : [],
  )
  const known = tools[call?.number ?? 0]
  const isMcp = call?.number === MCP
  const toolName = isMcp ? 'mcp' : (known?.name ?? 'unknown')
  const input = isMcp ? mcpArguments(args) : readShape(args, known?.args ?? {})
  const toolCallId = textIn(fields, CALL_ID)
  const content: JsonRecord[] = [{ type: 'tool-call', toolName, input, ...(toolCallId === null ? {} : { toolCallId }) }]
  const result = toolCallId === null ? null : readResult(messageIn(value, 2), isMcp, known)
  if (result !== null) content.push({ type: 'tool-result', toolName, toolCallId, ...result })
  return { content, texts }
}

/** As `call_mcp_tool` has them, so that such a call gets the same name everywhere. */
const mcpArguments = (args: readonly WireField[]): JsonRecord => ({
  server: textIn(args, 9) ?? textIn(args, 4),
  toolName: textIn(args, 5) ?? textIn(args, 1),
  arguments: readMap(args, 2, 0),
})

const DEPTH_MAX = 20

/** A map of names to values of any kind. Numbers have a fixed width and are left out. */
const readMap = (fields: readonly WireField[], number: number, depth: number): JsonRecord =>
  Object.fromEntries(
    bytesIn(fields, number).flatMap((entry) => {
      const pair = readWire(entry) ?? []
      const name = textIn(pair, 1)
      return name === null ? [] : [[name, depth > DEPTH_MAX ? null : readAny(messageIn(pair, 2), depth + 1)]]
    }),
  )

function readAny(fields: readonly WireField[], depth: number): unknown {
  const [field] = fields
  if (field === undefined) return null
  if (field.number === 4) return field.value === 1
  if (!Buffer.isBuffer(field.value)) return null
  if (field.number === 3) return field.value.toString('utf8')
  const inner = readWire(field.value) ?? []
  if (field.number === 5) return readMap(inner, 1, depth)
  if (field.number !== 6 || depth > DEPTH_MAX) return null
  return bytesIn(inner, 1).map((each) => readAny(readWire(each) ?? [], depth + 1))
}

/** Null if nothing of it is known. A result is one of several messages; the first is a success, the others say why not. */
function readResult(fields: readonly WireField[], isMcp: boolean, known: Tool | undefined): JsonRecord | null {
  const [field] = fields
  if (field === undefined || !Buffer.isBuffer(field.value)) return null
  const inner = readWire(field.value) ?? []
  // A failed command has the same fields as one that succeeded.
  const isOutput = field.number === 1 || (known?.name === 'shell' && field.number === 2)
  if (!isOutput) {
    const reason = inner
      .flatMap(({ value }) => (Buffer.isBuffer(value) ? value.toString('utf8') : []))
      .find(isPlainText)
    return { isError: true, ...(reason === undefined ? {} : { result: reason }) }
  }
  const texts = isMcp ? bytesIn(inner, 1).flatMap((each) => textIn(messageIn(readWire(each) ?? [], 1), 1) ?? []) : []
  const output = isMcp ? { text: texts.join('\n') } : readShape(inner, known?.output ?? {})
  const { before: _, after: __, ...short } = output
  // The whole file before and after is kept only where no difference is.
  const shown = typeof output['diff'] === 'string' ? short : output
  return Object.keys(shown).length === 0 ? null : { result: shown, isError: isMcp && numberAt(inner, 2) === 1 }
}

// oxlint-disable-next-line no-control-regex
const isPlainText = (text: string): boolean => text !== '' && !/[\u0000-\u0008\ufffd]/.test(text)

function readShape(fields: readonly WireField[], shape: Shape): JsonRecord {
  const read = Object.entries(shape).flatMap(([name, [number, of, each]]): [string, unknown][] => {
    const value =
      of === undefined
        ? textIn(fields, number)
        : of === 'number'
          ? numberAt(fields, number)
          : of === 'texts'
            ? bytesIn(fields, number).map((text) => text.toString('utf8'))
            : bytesIn(fields, number).map((item) => readShape(readWire(item) ?? [], each ?? {}))
    return value === null || (Array.isArray(value) && value.length === 0) ? [] : [[name, value]]
  })
  return Object.fromEntries(read)
}
