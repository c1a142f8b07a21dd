\set n random(:creators, :creators + :many - 1)
\set nonce random(1, 9000000000000000)
select * from bench.save(:tenant, bench.user_id(:n), 'reference-' || :nonce, :nonce || :body, :relates);
