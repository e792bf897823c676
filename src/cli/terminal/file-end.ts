/** More than the account of what was masked can be long. UTF-16 units. */
const KEPT = 16 * 1024

/** Watches a text go by, and keeps its end. */
export class FileEnd {
  #end = ''

  async *of(text: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const stretch of text) {
      this.#end = (this.#end + stretch).slice(-KEPT)
      yield stretch
    }
  }

  /** What the file says of what was masked in it, in words for a person, whatever its format. */
  get maskedSentence(): string {
    const sentences = [...this.#end.matchAll(/Masked in this file: [^<\n]*\./g)]
    const list = /"masked":(\[[^\]]*\])\}\s*$/.exec(this.#end)?.[1]
    if (list === undefined) return sentences.at(-1)?.[0] ?? 'The file does not tell what was masked in it.'
    const counts = JSON.parse(list) as readonly { readonly kind: string; readonly count: number }[]
    const words = counts.map(({ kind, count }) => `${count} ${kind}`)
    return `Masked in this file: ${words.length === 0 ? 'nothing' : words.join(', ')}.`
  }
}
