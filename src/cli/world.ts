import type { Settings, Surroundings } from '../settings.ts'
import type { OpenAnswers } from './client/answers.ts'
import type { Output } from './terminal/screen.ts'
import type { Companion } from './serve-forever.ts'

/** Everything outside the command line that it touches. */
export interface World extends Surroundings {
  readonly openAnswers: OpenAnswers
  /** Runs the daemon in the foreground until it is told to stop, and whoever runs beside it. */
  readonly serve: (settings: Settings, companion?: Companion) => Promise<void>
  readonly stdin: AsyncIterable<Buffer | string>
  readonly stdout: Output
  readonly stderr: Output
  /** IANA name of the zone in which times are shown. */
  readonly timeZone: string
  readonly version: string
}
