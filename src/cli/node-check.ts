// Old versions of Node must be able to parse this file, so it uses only syntax of Node 14.

export interface NodeFacts {
  /** `process.versions.node` */
  readonly node: string
  /** `process.versions.napi` */
  readonly napi: string | undefined
  /** Version of the installed better-sqlite3. Null if it is not installed. */
  readonly sqliteAddon: string | null
  /** Version of its newer build. npm does not install it on a Node that is too old for it. */
  readonly napiAddon: string | null
}

const REMEDY = 'Install Node 24 (or 22.14 or later, or 20.19 or later) from https://nodejs.org and run "npm ci" again.'

/**
 * Why this Node cannot run the program, as one sentence with a remedy, or null if it can. better-sqlite3 13 is built for
 * Node-API 10. An older Node loads it and crashes without a message. Node 24 crashes with better-sqlite3 12.
 */
export function whyNodeCannotRun(facts: NodeFacts): string | null {
  if (!isSupported(facts.node)) return `cursordex does not run on Node ${facts.node}: ${REMEDY}`
  const napi = Number(facts.napi)
  if (facts.napiAddon !== null && napi >= 10) return null
  if (facts.sqliteAddon === null) return 'cursordex is not installed completely: run "npm ci" in its folder.'
  const installed = `The installed better-sqlite3 ${facts.sqliteAddon}`
  const isNewForm = Number(facts.sqliteAddon.split('.')[0]) >= 13
  if (!isNewForm && Number(facts.node.split('.')[0]) >= 24) {
    return `${installed} does not run on Node ${facts.node}: run "npm ci" again with this Node.`
  }
  if (!isNewForm || napi >= 10) return null
  return (
    `${installed} needs Node-API 10, and Node ${facts.node} has ` +
    `${facts.napi === undefined ? 'none' : facts.napi}: run "npm ci" again with this Node, or use a newer one.`
  )
}

// The engines of package.json: ^20.19.0 || ^22.14.0 || >=24.0.0
function isSupported(version: string): boolean {
  const parts = version.split('.').map(Number)
  const major = parts[0] || 0
  const minor = parts[1] || 0
  if (major === 20) return minor >= 19
  if (major === 22) return minor >= 14
  return major >= 24
}
