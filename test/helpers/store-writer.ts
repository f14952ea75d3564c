import { pino } from 'pino'
import { openStore } from '../../src-main/node/store/index.ts'

// A process of its own that writes until it is killed: it tells each number when the store has acknowledged it.
const store = await openStore({
  dataDir: process.argv[2] ?? '',
  wrappingKey: new Uint8Array(32).fill(7),
  migrations: [{ id: 'numbers', sql: 'CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT' }],
  log: pino({ level: 'silent' }),
  clock: { now: () => Date.now() },
})
const writeNumber = async (n: number): Promise<void> => {
  const file = n % 50 === 0 ? await store.content.putFile(Buffer.alloc(1000, n)) : undefined
  await store.write((tx) => {
    tx.run('INSERT INTO numbers (n) VALUES (?)', n)
    store.evidence.append(tx, 'number.written', { n })
    if (file !== undefined) store.content.keepFile(tx, file)
  })
  process.stdout.write(`${n}\n`)
}
let next = 1
const line = async (): Promise<never> => {
  for (;;) await writeNumber(next++)
}
await Promise.all(Array.from({ length: 8 }, line))
