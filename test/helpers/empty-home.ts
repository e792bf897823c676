import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const home = mkdtempSync(join(tmpdir(), 'cursordex-home-'))
for (const name of Object.keys(process.env)) {
  if (name.startsWith('CURSORDEX_') || name.startsWith('XDG_')) delete process.env[name]
}
process.env['HOME'] = home
process.env['USERPROFILE'] = home
process.env['APPDATA'] = join(home, 'AppData', 'Roaming')
process.env['LOCALAPPDATA'] = join(home, 'AppData', 'Local')

// On a busy machine a search may take longer than a user would wait. Tests of the deadline set their own.
const config = join(home, '.config', 'cursordex')
mkdirSync(config, { recursive: true })
writeFileSync(join(config, 'config.json'), JSON.stringify({ search: { deadlineMs: 30_000 } }))

afterAll(() => rmSync(home, { recursive: true, force: true }))
