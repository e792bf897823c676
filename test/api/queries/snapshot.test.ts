import { afterEach, beforeEach, expect, it } from 'vitest'
import { listProjects } from '../../../src/api/queries/projects/list-projects.ts'
import { inSnapshot } from '../../../src/api/queries/snapshot.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'
import type { SeededMirror } from '../../helpers/seed-mirror.ts'

let mirror: SeededMirror
beforeEach(() => {
  mirror = seedMirror()
})
afterEach(() => mirror.dispose())

it('a write during several reads is seen by none of them, but by the next read', () => {
  const countProjects = () => listProjects(mirror.reader, { limit: 1, offset: 0 }).total
  const counts = inSnapshot(mirror.reader, () => {
    const before = countProjects()
    mirror.addWorkspace('w', mirror.addProject('new'))
    return [before, countProjects()]
  })
  expect([...counts, countProjects()]).toEqual([0, 0, 1])
})
