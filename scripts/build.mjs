// Bundles src/ into dist/, unless dist/ was made from the same sources. dist/ is emptied first, so that no files of
// deleted sources stay. If nothing changed, dist/ is not touched, so that a running daemon keeps its modules and tests
// can start in parallel.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const stamp = join(dist, '.made-from')

const builders = ['bundle.mjs', 'bundle-web.mjs', 'licences.mjs', 'pack-demo.mjs'].map((name) =>
  join(root, 'scripts', name),
)

/** The demo is made by writers of Cursor's stores, which the tests use too. */
const folders = ['src', 'test/demo', 'test/helpers/cursor']

/** Bundled packages count as sources. The lockfile names their versions. */
function sourcesHash() {
  const sources = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.mjs'))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  const hash = createHash('sha256')
  const others = [join(root, 'package-lock.json')]
  for (const path of [...sources.sort(), ...builders, ...others]) {
    hash.update(`${path}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

const wanted = sourcesHash()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(dist, { recursive: true, force: true })
  // The bundler is loaded only if it is needed.
  const { bundle } = await import('./bundle.mjs')
  const modules = await bundle(join(root, 'src'), dist)
  const { bundleWeb } = await import('./bundle-web.mjs')
  modules.push(...(await bundleWeb(join(root, 'src', 'web'), join(dist, 'web'))))
  const { packDemo } = await import('./pack-demo.mjs')
  await packDemo(root, join(dist, 'demo'))
  const { licencesOf } = await import('./licences.mjs')
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licencesOf(modules))
  writeFileSync(stamp, wanted)
}
