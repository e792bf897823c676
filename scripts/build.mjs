// Bundles src/ into dist/, unless dist/ was made from these very sources. The folder is emptied first, so that a file
// deleted in src cannot linger as a command; and left alone when nothing changed, so that a running daemon keeps its
// modules and tests can start side by side.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const stamp = join(dist, '.made-from')

/** The packages that are bundled count as sources: the lockfile tells which they are. */
function sourcesHash() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const path of [...sources.sort(), join(root, 'scripts', 'bundle.mjs'), join(root, 'package-lock.json')]) {
    hash.update(`${path}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

const wanted = sourcesHash()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(dist, { recursive: true, force: true })
  // The bundler is loaded only where it is needed.
  const { bundle } = await import('./bundle.mjs')
  await bundle(join(root, 'src'), dist)
  writeFileSync(stamp, wanted)
}
