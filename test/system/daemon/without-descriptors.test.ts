import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { Compiled } from '../../helpers/compiled.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'

/** Runs in a separate process without free descriptors. Requests to other processes fail, and it continues. */
async function withoutDescriptors(module: string, words: readonly unknown[], ask: string): Promise<unknown> {
  const compiled = await Compiled.module(module)
  const script = `
    import { closeSync, openSync } from 'node:fs'
    const made = await import(${JSON.stringify(compiled.url)})
    const words = ${JSON.stringify(words)}
    const taken = []
    try { for (;;) taken.push(openSync('/dev/null')) } catch {}
    const codes = []
    const ask = async () => {
      try { ${ask} } catch (error) { codes.push(error.code ?? String(error)) }
    }
    await ask()
    // An unhandled rejection would have ended it by now.
    await new Promise((resume) => setTimeout(resume))
    for (const one of taken) closeSync(one)
    await ask()
    process.stdout.write(JSON.stringify(codes), () => process.exit())
  `
  const node = [process.execPath, '--input-type=module', '-e', script]
  try {
    const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node], { encoding: 'utf8' })
    return stdout === '' ? stderr.slice(-1000) : (JSON.parse(stdout) as unknown)
  } finally {
    compiled.remove()
  }
}

const canLimit = process.platform !== 'win32'

test.runIf(canLimit)('a search ended the daemon if no descriptor was left for its process', async () => {
  const mirror = seedMirror()
  try {
    const ask = `
      globalThis.pool ??= new made.SearchPool(words[0])
      await pool.ask({ kind: 'search', request: words[1] }, 30_000)
      codes.push('answered')`
    const codes = await withoutDescriptors('engine/executor/search-pool', [mirror.path, requestOf('plum')], ask)
    expect(codes).toEqual(['search-died', 'answered'])
  } finally {
    mirror.dispose()
  }
})

test.runIf(canLimit)('an archive ended the daemon if no descriptor was left for its process', async () => {
  const ask = `
    globalThis.executor ??= new made.ForkedExecutor('/nowhere/mirror.db')
    await executor.run('verify', { dir: '/nowhere/archives', share: 1 })
    codes.push('answered')`
  expect(await withoutDescriptors('engine/executor/forked-executor', [], ask)).toEqual(['archive-died', 'answered'])
})
