\set n random(:users + 1, 2 * :users)
\set k random(:skills / 2 + 1, :skills)
\set nonce random(1, 9000000000000000)
select * from bench.save(:tenant, bench.user_id(:n), bench.skill_name(:k), :nonce || :body, false);
