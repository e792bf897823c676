import * as fs from 'node:fs'
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
  cli: [
    'hub',
    'daemon',
    'engine',
    'api',
    'indexer',
    'git',
    'mirror',
    'shared',
    'text',
    'model',
    'settings',
    'demo',
    'regular-file',
  ],
  daemon: ['engine', 'indexer', 'api', 'git', 'mirror', 'text', 'model', 'settings'],
  engine: ['hub', 'indexer', 'api', 'git', 'mirror', 'archive', 'text', 'model', 'settings', 'sqlite', 'regular-file'],
  // PostgreSQL.
  hub: ['indexer', 'api', 'git', 'mirror', 'text', 'archive', 'model'],
  indexer: ['mirror', 'text', 'archive', 'model', 'sqlite', 'regular-file'],
  api: ['mirror', 'shared', 'text', 'archive', 'model', 'regular-file'],
  mirror: ['text', 'archive', 'model', 'sqlite', 'regular-file'],
  text: ['model'],
  // What several faces say alike.
  shared: ['text', 'model'],
  archive: ['model'],
  git: ['model'],
  settings: ['model', 'text', 'regular-file'],
  demo: ['model', 'sqlite'],
  sqlite: ['model', 'regular-file'],
  'regular-file': ['model'],
  model: [],
  // The page: it runs in a browser, and takes from the rooms but `shared` only types (`isPageType`).
  web: ['shared'],
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
  if (isRoute(each.target) && !knowsRoutes.test(file.path)) return breach(file, each.at, `imports ${each.target}`)
  const [mine, theirs] = [adapterOf(file.path), adapterOf(each.target)]
  // All adapters share the decoders of Cursor's records, which import no adapter.
  const isForeign = mine !== null && theirs !== null && mine !== theirs && theirs !== 'records'
  return isForeign ? breach(file, each.at, `imports ${each.target}, another adapter`) : null
}

/** Only the HTTP side, the server and the callers of the typed client know routes. The others know the shapes of answers. */
const isRoute = (path: string): boolean => path.startsWith('src/api/http/')
const knowsRoutes = /^src\/(api\/(http|mcp)|daemon\/server|cli|web\/lib)\//

const SCHEMAS = 'src/api/answers/'

/** The shapes of answers know zod and the model only. Queries know their types, so that a search loads no schema. */
function schemaBreach(file: Parsed, each: Import): string | null {
  const { target, specifier, isTypeOnly, at } = each
  if (file.path.startsWith(SCHEMAS)) {
    const isKnown = target === null ? packageOf(specifier) === 'zod' : /^src\/(model|api\/answers)\//.test(target)
    return isKnown ? null : breach(file, at, `imports ${specifier} into a schema`)
  }
  const isOfApi = file.path.startsWith('src/api/') && !file.path.startsWith('src/api/http/')
  const isLoaded = isOfApi && target?.startsWith(SCHEMAS) === true && !isTypeOnly
  return isLoaded ? breach(file, at, `loads ${target}`) : null
}

/** The page may use the shapes of answers, the routes and the model, as types: nothing of them is in its bundle. */
const isPageType = (from: string, { target, isTypeOnly }: Import): boolean =>
  from === 'web' && isTypeOnly && /^src\/(api\/answers\/|api\/http\/routes\.ts|model\/)/.test(target ?? '')

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
  /^src\/(mirror\/|hub\/|api\/(queries|search)\/|indexer\/sources\/[^/]+\/read(-[a-z]+)*\.ts$|demo\/store\.ts$)/
/** Files that open Cursor's files or copies of them set up connections, and the lock of the data folder is a SQLite lock. */
const connectionDoors = /^src\/(indexer\/open-safely\/(cursor-file|checked-copy)|engine\/lock)\.ts$/

/** Only certain rooms contain SQL. */
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

const writesFiles =
  /^(write|append|f?truncate|rm|unlink|rename|mkdir|mkdtemp|copyFile|cp|l?chmod|l?chown|symlink|link|l?utimes|createWrite)/
/** It makes copies in the program's own folder, and removes them. */
const copies = /^src\/indexer\/open-safely\/checked-copy\.ts$/

/** What reads Cursor imports nothing that writes files, and never the whole of `fs`. */
export const readsOnly: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('src/indexer/') && !copies.test(path))
    .flatMap((file) =>
      file.imports.flatMap(({ specifier, names, at }) => {
        if (!/^(node:)?fs(\/promises)?$/.test(specifier)) return []
        const writers = names.filter(
          (name) => writesFiles.test(name) || (/^[a-z]/.test(name) && !(name in fs)) || name === 'promises',
        )
        return writers.map((name) => breach(file, at, `imports ${name}`))
      }),
    )

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
