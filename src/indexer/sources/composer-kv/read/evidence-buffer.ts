import type { EvidenceWrite } from '../../../../mirror/write/batch.ts'
import type { ChatId } from '../../../../model/ids.ts'
import type { Evidence } from '../../../decoded.ts'
import { weighEvidence } from '../../../projects/projects.ts'

/** What messages say of where their chats belong. Those of one chat mostly say the same: it is kept once. */
export class EvidenceBuffer {
  readonly #told = new Map<string, readonly EvidenceWrite[]>()

  add(chatId: ChatId, evidence: readonly Evidence[] = []): void {
    for (const one of evidence) {
      const name = `${chatId}\0${one.method}\0${one.uri}`
      // A chat can have been in two windows, so that what one message says does not undo another's word.
      if (!this.#told.has(name)) this.#told.set(name, weighEvidence(chatId, [one], { isOnly: false }))
    }
  }

  /** Hands on what was told since the last time. */
  take(): EvidenceWrite[] {
    const evidence = [...this.#told.values()].flat()
    this.#told.clear()
    return evidence
  }
}
