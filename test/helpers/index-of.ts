import { ATTACHED, indexPath } from '../../src/mirror/index/index-file.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { MirrorIndex } from '../../src/mirror/index/follow-mirror.ts'

/** Brings the index of a connection's mirror up to date, and lets the connection search. */
export function attachIndex(db: Mirror): void {
  if ((db.pragma('database_list') as { name: string }[]).some(({ name }) => name === ATTACHED)) {
    db.exec(`detach database ${ATTACHED}`)
  }
  indexOf(db.name, (index) => index.catchUp())
  db.prepare(`attach database ? as ${ATTACHED}`).run(indexPath(db.name))
}

/** Opens the full-text index of a mirror for one act. Nobody else may write to it. */
export function indexOf<Outcome>(mirrorPath: string, act: (index: MirrorIndex) => Outcome): Outcome {
  const index = new MirrorIndex(mirrorPath, Date.now)
  try {
    return act(index)
  } finally {
    index.close()
  }
}
