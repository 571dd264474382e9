#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small databases with the tables that nsys and rocprofiler-sdk write, as documented, and some that
nobody would write. Usage: make_databases.py FOLDER"""
import os
import sqlite3
import sys

PID, TID = 4242, 4242
GLOBAL_PID = 0x0100_0000_0000_0000 | PID << 24
GLOBAL_TID = GLOBAL_PID | TID
UUID = "_0000a1b2_c3d4"


def database(name, script):
    path = os.path.join(sys.argv[1], name)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript(script)
    db.commit()
    return db


def strings(db, table, names):
    db.executemany(f"INSERT INTO {table} VALUES (?, ?)", enumerate(names))


def nsys():
    db = database("nsys.sqlite", """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
        CREATE TABLE TARGET_INFO_GPU (vmId INT, id INT, name TEXT, busLocation TEXT, totalMemory INT,
            clockRate INT, smCount INT, uuid TEXT, chipName TEXT, cuDevice INT, computeMajor INT,
            computeMinor INT);
        CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL,
            eventClass INT NOT NULL, globalTid INT, correlationId INT, nameId INT NOT NULL,
            returnValue INT NOT NULL, callchainId INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL,
            deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT,
            globalPid INT, demangledName INT NOT NULL, shortName INT NOT NULL, mangledName INT,
            gridX INT NOT NULL, graphNodeId INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL,
            deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT,
            globalPid INT, bytes INT NOT NULL, copyKind INT NOT NULL, srcKind INT, dstKind INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT NOT NULL, end INT NOT NULL,
            deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT,
            globalPid INT, value INT NOT NULL, bytes INT NOT NULL, memKind INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT NOT NULL, end INT NOT NULL,
            deviceId INT NOT NULL, graphId INT NOT NULL, graphExecId INT NOT NULL,
            contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT);
        CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT NOT NULL, timestampType INT NOT NULL,
            source INT NOT NULL, severity INT NOT NULL, text TEXT NOT NULL, globalPid INT);
        CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, rangeId INT,
            category INT, color INT, text TEXT, globalTid INT, endGlobalTid INT, textId INT,
            domainId INT);
        """)
    strings(db, "StringIds", ["", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020",
                              "cudaDeviceSynchronize_v3020", "gemm(float *)", "gemm", "_Z4gemmPf",
                              "forward", "cudaGraphLaunch_v10000", "cudaGetDeviceProperties_v2_v12000"])
    db.executemany("INSERT INTO ENUM_CUDA_MEM_KIND VALUES (?, ?, ?)",
                   [(0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"),
                    (1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"),
                    (2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device")])
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1759276801000000000, '', '')")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'NVIDIA H200', '', 150109880320, "
               "1980000000, 132, 'GPU-1', 'GH100', 0, 9, 0)")
    db.executemany("INSERT INTO PROCESSES VALUES (?, ?, ?)",
                   [(GLOBAL_PID, PID, "train"), (GLOBAL_PID + (1 << 24), PID + 1, "idle")])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, NULL)",
                   [(1000, 1500, GLOBAL_TID, 1, 1), (1600, 1900, GLOBAL_TID, 2, 1),
                    (2000, 2100, GLOBAL_TID, 3, 2), (2200, 9000, GLOBAL_TID, 4, 3),
                    (9100, 9200, GLOBAL_TID, 5, 8), (9210, 9230, GLOBAL_TID, 6, 9)])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 4, 5, ?, 1, NULL)",
                   [(3000, 4000, 1, GLOBAL_PID, 6), (4000, 5500, 2, GLOBAL_PID, 6),
                    (6000, 6100, 77, GLOBAL_PID, None)])
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)",
                   [(7000, 7500, 1, 7, 3, GLOBAL_PID, 4096, 2, 2, 1),
                    (7510, 7520, 0, 0, 0, GLOBAL_PID, 65536, 11, 7, 7)])  # a page that moves
    db.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 1, ?, ?, ?)",
                   [(1, "CUDA injection initialized successfully.", GLOBAL_PID),
                    (2, "Not all NVTX events might have been collected.", GLOBAL_PID),
                    (3, "CUPTI could not be loaded.", GLOBAL_PID + (9 << 24))])
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7600, 7610, 0, 1, 7, 3, ?, 0, 64, 2)",
               (GLOBAL_PID,))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (9300, 9900, 0, 12, 13, 1, 7, 5, ?)",
               (GLOBAL_PID,))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, NULL, NULL, NULL, ?, ?, NULL, ?, 0)",
                   [(900, 2150, 59, None, GLOBAL_TID, 7), (1550, 1950, 59, "layer 1", GLOBAL_TID, None),
                    (100, 9999, 60, "epoch", GLOBAL_TID, None), (5000, None, 34, "here", GLOBAL_TID, None),
                    (50, None, 75, "a domain", GLOBAL_TID, None)])
    db.commit()
    db.close()


def nsys_old():
    """Columns of 2020: no mangled names, no text ids, no global pid of kernels."""
    db = database("nsys_old.sqlite", """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT,
            nameId INT, returnValue INT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,
            streamId INT, correlationId INT, demangledName INT, shortName INT);
        CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
        INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'add(int)'), (3, 'add');
        """)
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, ?, 9, 1, 0)", (GLOBAL_TID,))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 50, 0, 1, 7, 9, 2, 3)")
    db.execute("INSERT INTO NVTX_EVENTS VALUES (5, 60, 'all', ?)", (GLOBAL_TID,))
    db.commit()
    db.close()


ROCPD = """
    CREATE TABLE rocpd_metadataU (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
    CREATE TABLE rocpd_stringU (id INTEGER PRIMARY KEY, string TEXT NOT NULL, guid TEXT);
    CREATE TABLE rocpd_info_processU (id INTEGER PRIMARY KEY, nid INT, ppid INT, pid INT, start BIGINT,
        command TEXT);
    CREATE TABLE rocpd_info_agentU (id INTEGER PRIMARY KEY, nid INT, pid INT, type TEXT,
        absolute_index INT, logical_index INT, type_index INT, uuid INT, name TEXT, model_name TEXT,
        product_name TEXT, extdata JSONB);
    CREATE TABLE rocpd_info_threadU (id INTEGER PRIMARY KEY, guid TEXT, nid INT, ppid INT, pid INT,
        tid INT NOT NULL, name TEXT);
    CREATE TABLE rocpd_info_kernel_symbolU (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
    CREATE TABLE rocpd_eventU (id INTEGER PRIMARY KEY, category_id INT, stack_id INT,
        parent_stack_id INT, correlation_id INT, extdata JSONB);
    CREATE VIEW rocpd_string AS SELECT * FROM rocpd_stringU;
    CREATE VIEW busy AS SELECT id FROM rocpd_stringU UNION ALL SELECT id FROM rocpd_stringU
        UNION ALL SELECT id FROM rocpd_stringU UNION ALL SELECT id FROM rocpd_stringU;
    INSERT INTO rocpd_stringU (id, string) VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipMemcpyAsync'),
        (4, 'roctxRangePushA'), (5, 'MEMORY_COPY_HOST_TO_DEVICE'), (6, 'hipDeviceSynchronize');
    INSERT INTO rocpd_info_processU VALUES (4242, 1, 1, 4242, 10, './saxpy -n 9');
    INSERT INTO rocpd_info_agentU VALUES (0, 1, 4242, 'CPU', 0, 0, 0, 0, 'EPYC', '', '', '{}'),
        (5, 1, 4242, 'GPU', 5, 1, 0, 7, 'gfx942', '', 'AMD Instinct MI300X',
         '{"size": 312, "cu_count": 304, "max_engine_clk_fcompute": 2100, "mem_banks": []}'),
        (6, 1, 4242, 'GPU', 6, 2, 1, 8, 'gfx1100', '', 'Radeon', '{"cu_count": 96}');
    INSERT INTO rocpd_info_threadU (id, nid, pid, tid) VALUES (7, 1, 4242, 4243);
    INSERT INTO rocpd_info_kernel_symbolU VALUES (11, '_Z5saxpyPf.kd', 'saxpy(float*)');
    INSERT INTO rocpd_eventU VALUES (101, 1, 1, 0, 0, '{"message": "step \\"1\\""}'),
        (102, 1, 2, 1, 0, '{}'), (103, 1, 3, 1, 0, '{}'), (104, 1, 4, 0, 0, '{}'),
        (105, 1, 2, 2, 0, '{}'), (106, 1, 3, 3, 0, '{}');
    """

ROCPD_V2 = ROCPD + """
    CREATE TABLE rocpd_regionU (id INTEGER PRIMARY KEY, nid INT, pid INT, tid INT, start BIGINT,
        end BIGINT, name_id INT, event_id INT);
    CREATE TABLE rocpd_kernel_dispatchU (id INTEGER PRIMARY KEY, nid INT, pid INT, tid INT, agent_id INT,
        kernel_id INT, dispatch_id INT, queue_id INT, stream_id INT, start BIGINT, end BIGINT,
        event_id INT);
    CREATE TABLE rocpd_memory_copyU (id INTEGER PRIMARY KEY, nid INT, pid INT, tid INT, start BIGINT,
        end BIGINT, name_id INT, dst_agent_id INT, src_agent_id INT, size INT, stream_id INT,
        event_id INT);
    INSERT INTO rocpd_regionU VALUES (1, 1, 4242, 7, 1000, 5000, 4, 101),
        (2, 1, 4242, 7, 1100, 1200, 2, 102), (3, 1, 4242, 7, 1300, 1400, 3, 103),
        (4, 1, 4242, 7, 6000, 9000, 6, 104);
    INSERT INTO rocpd_kernel_dispatchU VALUES (1, 1, 4242, 7, 5, 11, 1, 0, 3, 2000, 3000, 105);
    INSERT INTO rocpd_memory_copyU VALUES (1, 1, 4242, 7, 3100, 3600, 5, 5, 0, 65536, 3, 106);
    """

# Times and places are rows of their own.
ROCPD_V3 = ROCPD + """
    CREATE TABLE rocpd_trackU (id INTEGER PRIMARY KEY, nid INT, pid INT, tid INT, agent_id INT,
        queue_id INT, stream_id INT);
    CREATE TABLE rocpd_timestampU (id INTEGER PRIMARY KEY, value BIGINT, phase INT);
    CREATE TABLE rocpd_regionU (id INTEGER PRIMARY KEY, track_id INT, name_id INT, start_id INT,
        end_id INT, event_id INT);
    CREATE TABLE rocpd_kernel_dispatchU (id INTEGER PRIMARY KEY, track_id INT, kernel_id INT,
        dispatch_id INT, start_id INT, end_id INT, event_id INT);
    CREATE TABLE rocpd_memory_copyU (id INTEGER PRIMARY KEY, track_id INT, start_id INT, end_id INT,
        name_id INT, dst_agent_id INT, src_agent_id INT, size INT, event_id INT);
    INSERT INTO rocpd_trackU VALUES (1, 1, 4242, 7, NULL, NULL, NULL), (2, 1, 4242, 7, 5, 0, 3);
    INSERT INTO rocpd_timestampU VALUES (1, 1000, 1), (2, 5000, 2), (3, 1100, 1), (4, 1200, 2),
        (5, 1300, 1), (6, 1400, 2), (7, 6000, 1), (8, 9000, 2), (9, 2000, 1), (10, 3000, 2),
        (11, 3100, 1), (12, 3600, 2);
    INSERT INTO rocpd_regionU VALUES (1, 1, 4, 1, 2, 101), (2, 1, 2, 3, 4, 102), (3, 1, 3, 5, 6, 103),
        (4, 1, 6, 7, 8, 104);
    INSERT INTO rocpd_kernel_dispatchU VALUES (1, 2, 11, 1, 9, 10, 105);
    INSERT INTO rocpd_memory_copyU VALUES (1, 2, 11, 12, 5, 5, 0, 65536, 106);
    """


# Times are columns, places are rows; the user names the agents.
ROCPD_V4 = ROCPD + """
    ALTER TABLE rocpd_info_agentU ADD COLUMN generic_name TEXT;
    UPDATE rocpd_info_agentU SET generic_name = name, name = 'mine';
    CREATE TABLE rocpd_trackU (id INTEGER PRIMARY KEY, nid INT, ppid INT, pid INT, tid INT, agent_id INT,
        queue_id INT, stream_id INT, name_id INT);
    CREATE TABLE rocpd_regionU (id INTEGER PRIMARY KEY, track_id INT, name_id INT, start BIGINT,
        end BIGINT, event_id INT);
    CREATE TABLE rocpd_kernel_dispatchU (id INTEGER PRIMARY KEY, track_id INT, kernel_id INT,
        dispatch_id INT, start BIGINT, end BIGINT, event_id INT);
    CREATE TABLE rocpd_memory_copyU (id INTEGER PRIMARY KEY, track_id INT, name_id INT, start BIGINT,
        end BIGINT, dst_agent_id INT, src_agent_id INT, size INT, event_id INT);
    INSERT INTO rocpd_trackU VALUES (1, 1, 1, 4242, 7, NULL, NULL, NULL, NULL),
        (2, 1, 1, 4242, 7, 5, 0, 3, NULL);
    INSERT INTO rocpd_regionU VALUES (1, 1, 4, 1000, 5000, 101), (2, 1, 2, 1100, 1200, 102),
        (3, 1, 3, 1300, 1400, 103), (4, 1, 6, 6000, 9000, 104);
    INSERT INTO rocpd_kernel_dispatchU VALUES (1, 2, 11, 1, 2000, 3000, 105);
    INSERT INTO rocpd_memory_copyU VALUES (1, 2, 5, 3100, 3600, 5, 0, 65536, 106);
    """


def rocpd(name, script):
    """The names of tables end with the run's id, those of the views do not."""
    for before in "U (", "U VALUES", "U ADD", "U SET":
        script = script.replace(before, UUID + before[1:])
    database(name, script.replace("FROM rocpd_stringU", "FROM rocpd_string" + UUID)).close()


def rpd():
    """RocmProfileData, before rocprofiler-sdk."""
    database("matmul.rpd", """
        CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string VARCHAR(4096) NOT NULL);
        CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INT NOT NULL, tid INT NOT NULL,
            start INT NOT NULL, end INT NOT NULL, apiName_id INT NOT NULL, args_id INT NOT NULL);
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INT NOT NULL, queueId INT NOT NULL,
            sequenceId INT NOT NULL, completionSignal VARCHAR(18) NOT NULL, start INT NOT NULL,
            end INT NOT NULL, description_id INT NOT NULL, opType_id INT NOT NULL);
        CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INT NOT NULL, op_id INT NOT NULL);
        CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream VARCHAR(18), size INT NOT NULL);
        CREATE VIEW top AS SELECT count(*) FROM rocpd_op;
        INSERT INTO rocpd_string VALUES (1, ''), (2, 'UserMarker'), (3, 'forward'), (4, 'hipLaunchKernel'),
            (5, 'hipMemcpyAsync'), (6, 'KernelExecution'), (7, 'CopyHostToDevice'), (8, '_Z5saxpyPf'),
            (9, 'hipDeviceSynchronize'), (10, 'FillBuffer');
        INSERT INTO rocpd_api VALUES (6442450945, 42, 43, 100, 900, 2, 3), (12, 42, 43, 110, 120, 4, 1),
            (13, 42, 43, 130, 150, 5, 1), (14, 42, 43, 1000, 2000, 9, 1);
        INSERT INTO rocpd_op VALUES (1, 2, 0, 0, '', 300, 700, 8, 6), (2, 2, 0, 0, '', 200, 250, 1, 7),
            (3, 2, 0, 0, '', 800, 810, 1, 10);
        INSERT INTO rocpd_api_ops VALUES (1, 12, 1), (2, 13, 2);
        INSERT INTO rocpd_copyapi VALUES (13, '0x0', 4096);
        """).close()


def timeless():
    """Events that did not begin, or did not end, by whom it was that stopped early."""
    db = database("open.sqlite", """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, correlationId, shortName);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);
        INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel');
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (4100, 4200, 0, 5, 1), (NULL, 4300, 0, 5, 1),
            (4300, NULL, 0, 5, 1);""")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (4010, 4020, ?, 5, 2)", (GLOBAL_TID,))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?)",
                   [(4001, None, 59, "training", GLOBAL_TID), (4005, 4030, 59, "step", GLOBAL_TID),
                    (4006, None, 60, "epoch", GLOBAL_TID), (None, 4400, 59, "nothing", GLOBAL_TID)])
    db.commit()
    db.close()
    rocpd("open2.db", ROCPD_V2 + "UPDATE rocpd_kernel_dispatchU SET start = NULL;")
    rocpd("open3.db", ROCPD_V3 + "UPDATE rocpd_kernel_dispatchU SET start_id = 99;")
    database("open.rpd", """
        CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string);
        CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id);
        CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id);
        INSERT INTO rocpd_string VALUES (1, 'k'), (6, 'KernelExecution');
        INSERT INTO rocpd_op VALUES (1, 2, 0, NULL, 700, 1, 6), (2, 2, 0, 800, 900, 1, 6);""").close()


def handles():
    """Streams and contexts that are handles: the lower half of different ones may be the same."""
    wide = 1 << 32
    db = database("handles.sqlite", """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId);""")
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, ?, ?)",
                   [(1, 2, 1, 7), (2, 3, 1, wide + 7), (3, 4, wide + 1, 7), (4, 5, 1, 2 * wide + 7),
                    (5, 6, 1, -1), (6, 7, 1, wide - 1), (7, 8, 1, 1 << 31), (8, 9, 1, wide + 7)])
    db.commit()
    db.close()
    rocpd("handles.db", ROCPD_V2 + f"UPDATE rocpd_kernel_dispatchU SET stream_id = {wide + 3};")
    database("handles.rpd", f"""
        CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string);
        CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id);
        CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id);
        INSERT INTO rocpd_op VALUES (1, 2, 3, 1, 2, 1, 6), (2, 2, {wide + 3}, 3, 4, 1, 6);""").close()


def hostile():
    strange = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    database("other.sqlite", "CREATE TABLE t (a INT);").close()
    # A view that never ends instead of a table.
    database("view.sqlite", strange + """
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS
            (SELECT 0 UNION ALL SELECT start + 1 FROM r) SELECT start, start AS end FROM r;""").close()
    database("rpd.db", "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);").close()
    database("no_times.sqlite", strange + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a INT);").close()
    # A schema that sqlite itself cannot read.
    db = database("schema.sqlite", strange + "CREATE VIEW v AS SELECT 1;")
    db.execute("PRAGMA writable_schema = 1")
    db.execute("UPDATE sqlite_master SET sql = 'CREATE VIE v' WHERE name = 'v'")
    db.commit()
    db.close()
    # Columns that are computed by whoever wrote the file.
    database("computed.sqlite", strange + """
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a INT, start INT AS (length(hex(a))),
            end INT AS (abs(a)));
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (a) VALUES (1);""").close()
    database("types.sqlite", strange + """
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, demangledName);
        INSERT INTO StringIds VALUES (1, x'fffe00'), (2, 7);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            ('text', x'00', NULL, 1e300, -1, 'x', 9223372036854775807, 1),
            (5, 1, 999, 0, 0, 0, NULL, 2), (-9223372036854775808, 9223372036854775807, 999, 0, 0, 0, NULL, 2),
            (1, 2, 999, 0, 0, 12, NULL, 99);""").close()


nsys()
nsys_old()
rocpd("rocpd2.db", ROCPD_V2)
rocpd("rocpd3.db", ROCPD_V3)
rocpd("rocpd4.db", ROCPD_V4)
rpd()
timeless()
handles()
hostile()
