import { openReader } from '../mirror/open.ts'
import { areTermsSound } from '../mirror/maintenance/check-pages.ts'
import { endWithParent } from './end-with-parent.ts'

/** A process that checks the full-text tables: one statement of many seconds, and a process can be ended in its middle. */
const path = process.argv[2]
if (path === undefined) throw new Error('this file runs as a child of the daemon')
const leave = endWithParent()
const mirror = openReader(path)
const isSound = areTermsSound(mirror)
mirror.close()
process.send?.(isSound, leave)
