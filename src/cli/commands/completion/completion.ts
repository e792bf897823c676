import { Argument, type Command } from 'commander'
import { addExamples } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import type { Shell } from './answer.ts'

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly Shell[]

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program.command('completion').addArgument(new Argument('<shell>', 'the shell').choices(shells))
  addExamples(command, 'source <(cursordex completion bash)', 'cursordex completion fish | source')
  // A script asks with `cursordex completion SHELL complete -- WORD…`. The last word is the one at the cursor.
  const isAsked = session.argv[2] === 'complete'
  command.allowExcessArguments(isAsked).action(async (shell: Shell) => {
    const { answerOf, NOTHING, scriptOf } = await import('./answer.ts')
    if (!isAsked) return session.print(scriptOf(shell))
    let answer = NOTHING
    try {
      answer = answerOf(program, shell, command.args.slice(2), settingsOf)
    } catch {
      // Nobody asks for an error while typing: without a mirror, or with wrong settings, nothing is offered.
    }
    await session.print(answer)
  })
}
