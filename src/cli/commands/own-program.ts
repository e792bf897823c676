import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { UserError } from '../../model/user-error.ts'

/** Folders of npx, of its counterparts, and of fnm, which makes one for each shell. */
const TEMPORARY = /[/\\](_npx|dlx(-[^/\\]*)?|bunx-[^/\\]*|fnm_multishells)[/\\]/

/**
 * How another program starts this one without a shell: the paths of Node and of the script.
 * @throws UserError `temporary-install` if it is in a folder that npx removes
 */
export function ownProgram(): readonly [node: string, script: string] {
  const script = realpathSync(process.argv[1] ?? '')
  if (!TEMPORARY.test(script)) return [realpathSync(process.execPath), script]
  const text = `This program is in a temporary folder of npx (${dirname(script)}), which npm removes.`
  throw new UserError('temporary-install', text, 'Install it first: npm install --global cursordex')
}
