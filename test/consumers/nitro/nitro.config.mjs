export default { srcDir: 'server', compatibilityDate: '2026-01-01' }
