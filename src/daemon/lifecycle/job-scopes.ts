import { UserError } from '../../model/user-error.ts'
import { placeInConfig, type Settings } from '../../settings.ts'

/**
 * Holds the scopes of the archive jobs against the rules of a run, which the settings do not know: a job that can never
 * run is to be heard of now, and not on Sunday.
 * @throws UserError `bad-setting`, exit code 2, that names the key, its place and what is allowed
 */
export async function requireScopes(
  { archives, configFile }: Pick<Settings, 'archives' | 'configFile'>,
  world: { zone(): string; now(): number },
): Promise<void> {
  if (archives.jobs.every(({ scope }) => scope === null)) return
  // The search language is not needed at any other start.
  const { readScope } = await import('../../api/archives/scope.ts')
  const clock = { timeZone: world.zone(), nowMs: world.now() }
  for (const [index, { scope, timezone }] of archives.jobs.entries()) {
    try {
      readScope(scope, { ...clock, timeZone: timezone ?? clock.timeZone })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const place = placeInConfig(configFile, ['archives', 'jobs', index, 'scope'])
      const message = `archives.jobs[${index}].scope is wrong (${place}): ${error.message}`
      throw new UserError('bad-setting', message, error.hint, { exitCode: 2, cause: error })
    }
  }
}
