import { extensionUris } from '../../../src-shared/a2a/index.ts'
import { median, type Row } from '../row.ts'

const warmUp = 20
const samples = 100

/** Several words, so that the echo has several pieces and the first is a preview. */
const text = 'One two three four five six seven eight nine ten eleven twelve.'

export const firstEventRow: Row = {
  name: 'first-event',
  what: 'first streamed event of an echo through two nodes and the hub',
  against: 'the same echo called directly over HTTP',
  goal: { most: 4 },
  async measure(desk) {
    const network = await desk.network()
    const load = await desk.load()
    const params = { message: { messageId: '{{id}}', role: 'ROLE_USER', parts: [{ text }] } }
    const targets = [
      network.through('SendStreamingMessage', params, { 'a2a-extensions': extensionUris.preview }),
      network.direct('SendStreamingMessage', params),
    ]
    await load.firstEvents(targets, warmUp)
    const [through = [], direct = []] = await load.firstEvents(targets, samples)
    return { measured: median(through), against: median(direct), unit: 'ms' }
  },
}
