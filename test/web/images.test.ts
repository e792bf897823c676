import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { startChats, usePlace } from './place.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const place = usePlace(() =>
  startChats((home) => {
    const [there, gone] = ['there', 'gone'].map((name) => join(home.root, `${name}.png`))
    writeFileSync(there ?? '', Buffer.from(PIXEL, 'base64'))
    const store = home.global()
    store.chat('images', { name: 'Images', fullConversationHeadersOnly: headers(['m']) })
    store.message('images', 'm', { type: 1, text: 'see these', images: [there, gone] })
  }),
)

test('an attached image is shown beside its name, and one whose file is gone by its name alone', async () => {
  const page = await place.tab()
  await page.goto('/chats/images')
  const message = page.locator('[data-message="m"]')
  await message.getByRole('img', { name: 'there.png' }).waitFor()
  const widths = await message
    .locator('img')
    .evaluateAll((all) => all.map((one) => (one as unknown as { naturalWidth: number }).naturalWidth))
  expect(widths).toEqual([1])
  expect(await message.innerText()).toMatch(/there\.png[^]*gone\.png/)
})
