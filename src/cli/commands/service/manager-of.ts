import { userInfo } from 'node:os'
import { UserError } from '../../../model/user-error.ts'
import type { Surroundings } from '../../../settings.ts'
import { launchd } from './launchd.ts'
import { toolIn, type ServiceManager } from './manager.ts'
import { scheduledTask } from './scheduled-task.ts'
import { systemd } from './systemd.ts'

/** @throws UserError `no-service` on other systems */
export function managerOf(surroundings: Surroundings): ServiceManager {
  const run = toolIn(surroundings.env)
  if (surroundings.platform === 'linux') return systemd(surroundings, userInfo().uid, run)
  if (surroundings.platform === 'darwin') return launchd(surroundings, userInfo().uid, run)
  if (surroundings.platform === 'win32') return scheduledTask(surroundings, run)
  throw new UserError(
    'no-service',
    `cursordex cannot install a service on ${surroundings.platform}.`,
    'Let your system start "cursordex serve".',
  )
}
