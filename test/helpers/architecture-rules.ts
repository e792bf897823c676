import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** A file of the project: its path from the root, with slashes, and its content. */
export interface ProjectFile {
  readonly path: string
  readonly text: string
}

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Import {
  readonly specifier: string
  /** The imported file; null for a package. */
  readonly target: string | null
  readonly names: readonly string[]
  readonly isTypeOnly: boolean
  readonly at: number
}

export interface Parsed extends ProjectFile {
  readonly nodes: readonly SyntaxNode[]
  readonly imports: readonly Import[]
}

/** Returns one line per breach: `src/a/b.ts:12 …`; empty if there is none. */
export type Rule = (files: readonly Parsed[]) => string[]

export function parseFile({ path, text }: ProjectFile): Parsed {
  const nodes = languageOf(path) === null ? [] : nodesOf(parseAst(text, { lang: languageOf(path) ?? 'ts' }, path))
  return { path, text, nodes, imports: nodes.flatMap((node) => importOf(node, path) ?? []) }
}

const languageOf = (path: string): 'ts' | 'tsx' | null =>
  path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : null

const isNode = (given: unknown): given is SyntaxNode =>
  typeof given === 'object' && given !== null && 'type' in given && typeof given.type === 'string'

function nodesOf(root: unknown): SyntaxNode[] {
  const found: SyntaxNode[] = []
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (isNode(next)) found.push(next)
    if (typeof next === 'object' && next !== null) waiting.push(...Object.values(next))
  }
  return found.sort((one, other) => one.start - other.start)
}

const field = (node: unknown, name: string): unknown => (isNode(node) ? node[name] : undefined)
const nameOf = (node: unknown): unknown => field(node, 'name') ?? field(node, 'value')
const listOf = (given: unknown): readonly unknown[] => (Array.isArray(given) ? given : [])

/** Static and dynamic imports, re-exports, types by `import('…')`, and files of workers and child processes. */
function importOf(node: SyntaxNode, path: string): Import | null {
  const isUrl = node.type === 'NewExpression' && nameOf(node['callee']) === 'URL'
  const specifier = nameOf(isUrl ? listOf(node['arguments'])[0] : node['source'])
  if (typeof specifier !== 'string' || (isUrl && !specifier.startsWith('.'))) return null
  const isRelative = specifier.startsWith('.')
  const target = isRelative ? posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts') : null
  const specifiers = listOf(node['specifiers'])
  const isType = (given: unknown) => field(given, 'importKind') === 'type' || field(given, 'exportKind') === 'type'
  return {
    specifier,
    target,
    names: specifiers.map((each) => String(nameOf(field(each, 'imported') ?? field(each, 'local')))),
    isTypeOnly: node.type === 'TSImportType' || isType(node) || (specifiers.length > 0 && specifiers.every(isType)),
    at: node.start,
  }
}

const breach = (file: Parsed, at: number, what: string): string =>
  `${file.path}:${file.text.slice(0, at).split('\n').length} ${what}`

/** The room of a file in src: its first folder. `settings.ts` is the entry of `settings/`. */
const roomOf = (path: string): string | null => /^src\/([^/.]+)/.exec(path)?.[1] ?? null
const adapterOf = (path: string): string | null => /^src\/indexer\/sources\/([^/]+)\//.exec(path)?.[1] ?? null
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier

const mayImport: Readonly<Record<string, readonly string[]>> = {
  cli: ['hub', 'daemon', 'engine', 'api', 'indexer', 'git', 'mirror', 'text', 'model', 'settings', 'sample'],
  daemon: ['engine', 'indexer', 'api', 'git', 'mirror', 'text', 'model', 'settings'],
  engine: ['hub', 'indexer', 'api', 'git', 'mirror', 'text', 'model', 'settings', 'sqlite'],
  // PostgreSQL.
  hub: ['indexer', 'api', 'git', 'mirror', 'text', 'archive', 'model'],
  indexer: ['mirror', 'text', 'archive', 'model', 'sqlite'],
  api: ['mirror', 'text', 'archive', 'model'],
  mirror: ['text', 'archive', 'model', 'sqlite'],
  text: ['model'],
  archive: ['model'],
  git: ['model'],
  settings: ['model', 'text'],
  sample: ['model', 'sqlite'],
  sqlite: ['model'],
  model: [],
  // The page: it runs in a browser, and takes from the other rooms only types (`isPageType`).
  web: [],
}

/** Rooms import only the rooms below them, adapters never import each other, and the model imports nothing. */
export const layers: Rule = (files) =>
  files.flatMap((file) => file.imports.flatMap((each) => layerBreach(file, each) ?? []))

function layerBreach(file: Parsed, each: Import): string | null {
  const from = roomOf(file.path)
  const below = mayImport[from ?? '']
  if (from === null || below === undefined) return breach(file, each.at, 'belongs to no room that is known')
  const described = schemaBreach(file, each)
  if (described !== null) return described
  if (each.target === null) {
    return from === 'model' ? breach(file, each.at, `imports ${each.specifier} into the model`) : null
  }
  const to = roomOf(each.target)
  if (to === null) return null
  const isSettingsType = to === 'settings' && each.isTypeOnly && from !== 'model' && from !== 'web'
  if (to !== from && !below.includes(to) && !isSettingsType && !isPageType(from, each))
    return breach(file, each.at, `imports ${each.target}`)
  const [mine, theirs] = [adapterOf(file.path), adapterOf(each.target)]
  // All adapters share the decoders of Cursor's records, which import no adapter.
  const isForeign = mine !== null && theirs !== null && mine !== theirs && theirs !== 'records'
  return isForeign ? breach(file, each.at, `imports ${each.target}, another adapter`) : null
}

const SCHEMAS = 'src/api/http/schemas/'

/** The shapes of answers know zod and the model only. Queries know their types, so that a search loads no schema. */
function schemaBreach(file: Parsed, each: Import): string | null {
  const { target, specifier, isTypeOnly, at } = each
  if (file.path.startsWith(SCHEMAS)) {
    const isKnown = target === null ? packageOf(specifier) === 'zod' : /^src\/(model|api\/http\/schemas)\//.test(target)
    return isKnown ? null : breach(file, at, `imports ${specifier} into a schema`)
  }
  const isOfApi = file.path.startsWith('src/api/') && !file.path.startsWith('src/api/http/')
  const isLoaded = isOfApi && target?.startsWith(SCHEMAS) === true && !isTypeOnly
  return isLoaded ? breach(file, at, `loads ${target}`) : null
}

/** The page may use the shapes of answers and the model, as types: nothing of them is in its bundle. */
const isPageType = (from: string, { target, isTypeOnly }: Import): boolean =>
  from === 'web' && isTypeOnly && /^src\/(api\/http\/schemas|model)\//.test(target ?? '')

/** Whether a file may use Cursor's own terms: only readers of its files, and writers of samples of them. */
const speaksAsCursor = (path: string): boolean => adapterOf(path) !== null || roomOf(path) === 'sample'

/** Cursor's terms for its objects and files. Outside the adapters these are called chats, messages and stores. */
const cursorWords =
  /composer|bubble|cursorDiskKV|ItemTable|vscdb|globalStorage|workspaceStorage|workspaceIdentifier|agentKv|aichat|aiService/gi

/** The list of adapters, and the settings that switch them on and off. These may contain the names of adapters. */
const namesAdapters = /^(src\/indexer\/discover\.ts|src\/settings\/schema\.ts|config\/(default|schema)\.json)$/

/** This rule also covers comments and file names. */
export const words: Rule = (files) => {
  const names = files.flatMap(({ path }) => adapterOf(path) ?? [])
  const camel = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const spellings = [...new Set(names.flatMap((name) => [name, camel(name)]))]
  return files
    .filter(({ path }) => !speaksAsCursor(path))
    .flatMap((file) => {
      // Names are replaced in place, so that line numbers stay the same.
      const isDoor = namesAdapters.test(file.path)
      const text = isDoor ? spellings.reduce((left, name) => left.replaceAll(name, '-'), file.text) : file.text
      const inText = [...text.matchAll(cursorWords)].map(({ index, 0: word }) => ({ at: index, word }))
      const inName = [...file.path.matchAll(cursorWords)].map(({ 0: word }) => ({ at: 0, word }))
      return [...inName, ...inText].map(({ at, word }) => breach({ ...file, text }, at, `says ${word}`))
    })
}

// English text may contain words like "select" and "update": only the form of a statement counts.
const rowsSql = new RegExp(
  [
    String.raw`(^|[(;\n])\s*(select\b[^]*\bfrom\b|insert\s+(or\s+\w+\s+)?into\b|replace\s+into\b|update\s+\S+\s+set\b`,
    String.raw`|delete\s+from\b|(create|drop|alter)\s+((virtual|temp|unique)\s+)?(table|index|view|trigger)\b`,
    String.raw`|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\s*\(|explain\s+query\b|attach\s+(database\s+)?['?:@$])`,
    String.raw`|\b(where|and|or)\s+[\w.]+\s*(=|<|>|<=|>=|like|match|in)\s*\(?([?@$]|:\w)`,
  ].join(''),
  'i',
)
const connectionSql = /^\s*(pragma\s+\w+|begin\s+(exclusive|immediate|deferred)|savepoint\s+\w+)\s*(;?$|=|\()/i
const transactionWord = /^\s*(begin|commit|rollback|end|vacuum)\s*;?\s*$/i
const sqlRooms =
  /^src\/(mirror\/|hub\/|api\/(queries|search)\/|indexer\/sources\/[^/]+\/([a-z]+\/)?(read(-[a-z]+)*|empty-store)\.ts$|sample\/(cursor-home|cli-store)\.ts$|sample\/chats\/)/
/** Files that open Cursor's files or copies of them set up connections, and the lock of the data folder is a SQLite lock. */
const connectionDoors = /^src\/(indexer\/open-safely\/(cursor-file|checked-copy)|engine\/lock)\.ts$/

/** Only certain rooms contain SQL. The dialogues of the sample also mention SQL. */
export const sql: Rule = (files) =>
  files
    .filter(({ path }) => !sqlRooms.test(path))
    .flatMap((file) =>
      file.nodes.flatMap((node) => {
        const kind = sqlKindOf(node)
        const isAllowed = kind === null || (kind === 'connection' && connectionDoors.test(file.path))
        return isAllowed ? [] : [breach(file, node.start, 'contains SQL')]
      }),
    )

function sqlKindOf(node: SyntaxNode): 'rows' | 'connection' | null {
  if (node.type === 'CallExpression' && field(node['callee'], 'type') === 'MemberExpression') {
    const method = nameOf(field(node['callee'], 'property'))
    if (method === 'prepare') return 'rows'
    const isWord = method === 'exec' && transactionWord.test(textOf(listOf(node['arguments'])[0]) ?? '')
    return isWord || method === 'pragma' ? 'connection' : null
  }
  const text = textOf(node) ?? ''
  if (rowsSql.test(text)) return 'rows'
  return connectionSql.test(text) ? 'connection' : null
}

/** The text of a string or template literal, with `?` for each placeholder. */
function textOf(node: unknown): string | null {
  if (!isNode(node)) return null
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null
  if (node.type !== 'TemplateLiteral') return null
  return listOf(node['quasis']).reduce<string>((text, quasi, index) => {
    const cooked = (field(quasi, 'value') as { readonly cooked?: string | null } | undefined)?.cooked ?? ''
    return `${text}${index === 0 ? '' : '?'}${cooked}`
  }, '')
}

const isCalled = (node: unknown, name: string): boolean =>
  nameOf(node) === name || nameOf(field(node, 'property')) === name

/** Only the settings read the environment and the config files. */
export const settingsReaders: Rule = (files) =>
  files
    .filter(({ path }) => roomOf(path) !== 'settings' && path.startsWith('src/'))
    .flatMap((file) => [
      ...file.imports
        .filter(({ specifier }) => /^(node:)?process$|^jsonc-parser$/.test(specifier))
        .map(({ at, specifier }) => breach(file, at, `imports ${specifier}`)),
      ...file.nodes.flatMap((node) => {
        const opens = node.type === 'VariableDeclarator' && field(node['id'], 'type') === 'ObjectPattern'
        const bound = opens ? listOf(field(node['id'], 'properties')).map((each) => nameOf(field(each, 'key'))) : []
        const takesApart = isCalled(node['init'], 'process') && bound.includes('env')
        const asks = node.type === 'MemberExpression' && isCalled(node['object'], 'process') && isCalled(node, 'env')
        const namesFile = /(^|\/)(config|default)\.json$/.test(textOf(node) ?? '')
        if (takesApart || asks) return [breach(file, node.start, 'reads the environment')]
        return namesFile ? [breach(file, node.start, 'names a config file')] : []
      }),
    ])

const timers = /^(setTimeout|setInterval|setImmediate)$/
const timePackages = /^(node:)?timers(\/promises)?$/
const threads = /^(node:)?(worker_threads|child_process|cluster)$/

/** The agent that writes to the sample home runs in a separate process. */
const sampleProcess = 'src/sample/grow-child.ts'

/** Git is only started by `spawn`, which takes a list of arguments and uses no shell. */
const callsGit = (path: string, { specifier, names }: Import): boolean =>
  roomOf(path) === 'git' && /^(node:)?child_process$/.test(specifier) && names.every((name) => programNames.has(name))
const programNames: ReadonlySet<string> = new Set(['spawn', 'ChildProcessWithoutNullStreams'])

/** Only the daemon, the engine, the command line and the page read the clock, wait and start threads. */
export const time: Rule = (files) =>
  files
    .filter(({ path }) => !['daemon', 'engine', 'cli', 'web'].includes(roomOf(path) ?? '') && path !== sampleProcess)
    .flatMap((file) => [
      ...file.imports
        .filter((each) => {
          const { specifier, names, isTypeOnly } = each
          // Any room may validate a schedule, but only the daemon runs jobs by it.
          const runsByCron = specifier === 'node-cron' && !isTypeOnly && names.join() !== 'validate'
          return runsByCron || timePackages.test(specifier) || (threads.test(specifier) && !callsGit(file.path, each))
        })
        .map(({ at, specifier }) => breach(file, at, `imports ${specifier}`)),
      ...file.nodes.flatMap((node) => {
        const callee = node['callee']
        const asksClock = node.type === 'MemberExpression' && nameOf(node['object']) === 'Date' && isCalled(node, 'now')
        const isNow =
          node.type === 'NewExpression' && nameOf(callee) === 'Date' && listOf(node['arguments']).length === 0
        if (asksClock || isNow) return [breach(file, node.start, 'asks the clock')]
        const isTimer = node.type === 'Identifier' && timers.test(String(node['name']))
        return isTimer ? [breach(file, node.start, `uses ${String(node['name'])}`)] : []
      }),
    ])

const isPackage = ({ specifier, target }: Import): boolean => target === null && !isBuiltin(specifier)

/** Packages that src imports must be dependencies. */
export const packages =
  (dependencies: readonly string[]): Rule =>
  (files) =>
    files.flatMap((file) =>
      file.imports
        .filter((each) => isPackage(each) && !dependencies.includes(packageOf(each.specifier)))
        .map(({ at, specifier }) => breach(file, at, `imports ${specifier}, which is no dependency`)),
    )

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 70
const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length

export const sizes: Rule = (files) =>
  files.flatMap((file) => {
    const lines = linesOf(file.text)
    const functions = file.nodes.filter(({ type }) => /^(FunctionDeclaration|\w*FunctionExpression)$/.test(type))
    return [
      ...(lines > FILE_LINES_MAX ? [breach(file, 0, `has ${lines} lines`)] : []),
      ...functions.flatMap(({ start, end }) => {
        const length = linesOf(file.text.slice(start, end))
        return length > FUNCTION_LINES_MAX ? [breach(file, start, `has a function of ${length} lines`)] : []
      }),
    ]
  })

/** Type imports count too: files that depend on each other's types belong together. */
export const cycles: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const from = trail.indexOf(path)
    if (from >= 0) found.push([...trail.slice(from), path].join(' -> '))
    if (from >= 0 || done.has(path)) return
    for (const { target } of byPath.get(path)?.imports ?? []) if (target !== null) visit(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  return found
}
