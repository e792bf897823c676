import { useState } from 'preact/hooks'
import { saveToken, token } from '../lib/api.ts'

/** Shown without a token, and after a refused one. */
export function TokenForm() {
  const [given, setGiven] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    if (given.trim() !== '') saveToken(given.trim())
  }
  return (
    <main id="main" class="column narrow">
      <h1>Enter the token</h1>
      <p>
        This server shows chats only with the token of its data folder.{' '}
        {token.value !== null && 'The token of this tab was refused. '}
        It is in the file <code>token</code> there.
      </p>
      <form class="token-form" onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Show my chats
        </button>
      </form>
    </main>
  )
}
