// Compiles src/ into dist/, unless dist/ was made from these very sources. The folder is emptied first, so that a file
// deleted in src cannot linger as a command; and left alone when nothing changed, so that a running daemon keeps its
// modules and tests can start side by side.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'dist', '.made-from')

function sourcesHash() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const path of [...sources.sort(), join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json')]) {
    hash.update(`${path}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

const wanted = sourcesHash()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  chmodSync(join(root, 'dist', 'cli', 'bin.js'), 0o755)
  writeFileSync(stamp, wanted)
}
