import { afterAll, beforeAll, expect, test } from 'vitest'
import { TokenWorld } from '../../helpers/token-world.ts'

let world: TokenWorld
beforeAll(() => (world = new TokenWorld()))
afterAll(() => world.remove())

test('tokens of which no price is known cost null, not 0', async () => {
  const tokenCount = { inputTokens: 900, outputTokens: 50 }
  world.exchange('unheard', { tokenCount }, { modelConfig: { modelName: 'composer-unheard-of' } })
  const { totals } = await world.told('?model=composer-unheard-of')
  expect(totals.priced).toEqual({ cents: null, messages: 0, unpriced: 1 })
  const [row] = await world.csv('?model=composer-unheard-of')
  expect(row).toMatchObject({ 'recorded input': '900', 'recorded at list price, cents': '' })
})
